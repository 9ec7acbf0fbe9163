/* Processes that this one begins for what a library may not do here. */
#ifndef LEY_CHILD_H
#define LEY_CHILD_H

/* In a child just forked: nothing of the caller's is left but memory, not its handlers of signals,
 * its output, nor the right to live longer than the thread that began it. `output`: where it
 * prints; -1: nowhere. */
void child_begin(int output);

#endif
