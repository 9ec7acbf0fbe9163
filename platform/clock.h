/* The one clock: seconds that only go forward. */
#ifndef LEY_CLOCK_H
#define LEY_CLOCK_H

double ley_clock_s(void);

#endif
