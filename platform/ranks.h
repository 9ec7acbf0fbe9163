/* Ranks: processes of one job that a launcher (mpirun, srun) has started. ranks.c has those of a
 * program without MPI, which is always one rank; ranks_mpi.c, which is linked in its place where
 * that is wanted, those of MPI. All but the counters is collective: all ranks call it, in the same
 * order. Any thread may call it. What MPI itself cannot do ends all ranks. */
#ifndef LEY_RANKS_H
#define LEY_RANKS_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once a process, before anything else of this header, and its end, which waits for all ranks.
 * LEY_ERROR_USAGE: this rank cannot work with the others. */
ley_status ranks_begin(ley_error *error);
void ranks_end(void);

/* Ends all ranks at once, with this exit code. */
void ranks_abort(int code);

/* How many they are, and which one this is; and the same of those on this machine. */
int ranks_count(void);
int ranks_own(void);
int ranks_local_count(void);
int ranks_local(void);

/* Between rank 0 and the farthest one, measured at the beginning: how long the shortest message
 * takes, and how fast long ones are. One rank has no link: 0, and infinitely many bytes per
 * second. */
typedef struct ranks_speed {
    double latency_s, bytes_per_s;
} ranks_speed;
ranks_speed ranks_link(void);

/* From here on each rank is on its own, as if it were the only one; or no longer. Not collective.
 * */
void ranks_part(bool is_alone);

/* Bytes of rank 0 come to all; bytes of all, as many of each, come to all, [ranks_count()]. */
void ranks_broadcast(void *bytes, size_t size);
void ranks_share(const void *own, size_t size, void *all);

/* Numbers of all ranks, as many of each, are added up, on all of them. */
void ranks_add(double *numbers, size_t n);

/* Bytes go to rank 0, which takes them from one rank after the other; or from any rank to another
 * one. */
void ranks_send(const void *bytes, size_t size);
void ranks_send_to(int to, const void *bytes, size_t size);
void ranks_receive(int from, void *bytes, size_t size);

/* Units of so many bytes go from each rank to each: those for rank r are mine[to[r]] to
 * mine[to[r + 1] - 1], and those of rank r become all[from[r]] to all[from[r + 1] - 1]. */
void ranks_deal(const void *mine, const int64_t *to, void *all, const int64_t *from, size_t unit);

/* An array of units of so many bytes, of which each rank r has made its own, from first[r] to
 * first[r + 1] - 1: those of the others come there, too, while the ranks do something else. What is
 * begun is to be looked at until it is done, or ended, which waits for all; it stands in no order
 * with what else is collective. */
typedef struct ranks_exchange ranks_exchange;
ranks_exchange *ranks_exchange_begin(void *array, size_t unit, const int64_t *first);

/* Another exchange, by which an array of planes of rows of so many bytes is cut otherwise: `planes`
 * has planes plane[r] to plane[r + 1] - 1 on rank r, with all of their rows, and `columns` rows
 * row[r] to row[r + 1] - 1 of all planes. `there`: from planes to columns; else back. */
ranks_exchange *ranks_turn_begin(void *planes, void *columns, size_t row_bytes, const int64_t *plane,
                                 const int64_t *row, bool there);

bool ranks_exchange_is_done(ranks_exchange *exchange);
void ranks_exchange_end(ranks_exchange *exchange);

/* Each rank has a number that all ranks count on, at any time and also parted: what it was before
 * `more` was added. Clearing all of them is collective. */
int64_t ranks_count_on(int of, int64_t more);
void ranks_count_anew(void);

/* Bytes of this rank's that stay as they are, and that others look at while it does something else:
 * those of `rank` from the `at`-th on. Both ends are collective, looking is not. */
void ranks_show(const void *bytes, size_t size);
void ranks_look(int rank, size_t at, void *bytes, size_t size);
void ranks_show_no_more(void);

/* A file that is there already, into which this rank writes at places of its own. Not collective.
 * Closing makes sure that it is on the disk. Errors: LEY_ERROR_FILE. */
typedef struct ranks_file ranks_file;
ley_status ranks_file_open(const char *path, ranks_file **file, ley_error *error);
ley_status ranks_file_write(ranks_file *file, const void *bytes, size_t size, int64_t offset, ley_error *error);
ley_status ranks_file_flush(ranks_file *file, ley_error *error);
void ranks_file_close(ranks_file *file);

#endif
