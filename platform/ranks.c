/* Ranks of a program without MPI: there is one. */
#include "ranks.h"

#include "environment.h"
#include "error.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

static atomic_llong counted;

ley_status ranks_begin(ley_error *error)
{
    int rank = 0;
    const int count = environment_launched_ranks(&rank);
    return rank == 0 ? LEY_OK
                     : ley_fail(error, LEY_ERROR_USAGE,
                                "rank %d of %d stops, and rank 0 does all of the work: this leyden was built without "
                                "MPI; to deal it to all ranks type: mpirun -n %d leyden-mpi ... (of the package "
                                "leyden-mpi, or of make MPI=1)",
                                rank, count, count);
}

void ranks_end(void)
{
}

void ranks_abort(int code)
{
    (void)code;
}

int ranks_count(void)
{
    return 1;
}

int ranks_own(void)
{
    return 0;
}

int ranks_local_count(void)
{
    return 1;
}

int ranks_local(void)
{
    return 0;
}

ranks_speed ranks_link(void)
{
    return (ranks_speed){.bytes_per_s = INFINITY};
}

void ranks_part(bool is_alone)
{
    (void)is_alone;
}

void ranks_broadcast(void *bytes, size_t size)
{
    (void)bytes, (void)size;
}

void ranks_share(const void *own, size_t size, void *all)
{
    memcpy(all, own, size);
}

void ranks_add(double *numbers, size_t n)
{
    (void)numbers, (void)n;
}

/* Nobody is there to send anything, or to be sent to. */
void ranks_send(const void *bytes, size_t size)
{
    (void)bytes, (void)size;
}

void ranks_send_to(int to, const void *bytes, size_t size)
{
    (void)to, (void)bytes, (void)size;
}

void ranks_receive(int from, void *bytes, size_t size)
{
    (void)from, (void)bytes, (void)size;
}

void ranks_deal(const void *mine, const int64_t *to, void *all, const int64_t *from, size_t unit)
{
    (void)from;
    memcpy(all, mine, (size_t)to[1] * unit);
}

ranks_exchange *ranks_exchange_begin(void *array, size_t unit, const int64_t *first)
{
    (void)array, (void)unit, (void)first;
    return NULL;
}

ranks_exchange *ranks_turn_begin(void *planes, void *columns, size_t row_bytes, const int64_t *plane,
                                 const int64_t *row, bool there)
{
    (void)planes, (void)columns, (void)row_bytes, (void)plane, (void)row, (void)there;
    return NULL;
}

bool ranks_exchange_is_done(ranks_exchange *exchange)
{
    (void)exchange;
    return true;
}

void ranks_exchange_end(ranks_exchange *exchange)
{
    (void)exchange;
}

int64_t ranks_count_on(int of, int64_t more)
{
    (void)of;
    return atomic_fetch_add(&counted, more);
}

void ranks_count_anew(void)
{
    atomic_store(&counted, 0);
}

void ranks_show(const void *bytes, size_t size)
{
    (void)bytes, (void)size;
}

void ranks_look(int rank, size_t at, void *bytes, size_t size)
{
    (void)rank, (void)at, (void)bytes, (void)size;
}

void ranks_show_no_more(void)
{
}

ley_status ranks_file_open(const char *path, ranks_file **file, ley_error *error)
{
    (void)file;
    return ley_fail(error, LEY_ERROR_FILE, "%s: only one rank writes it", path);
}

ley_status ranks_file_write(ranks_file *file, const void *bytes, size_t size, int64_t offset, ley_error *error)
{
    (void)file, (void)bytes, (void)size, (void)offset;
    return ley_fail(error, LEY_ERROR_FILE, "a file that no other rank has opened");
}

ley_status ranks_file_flush(ranks_file *file, ley_error *error)
{
    (void)file, (void)error;
    return LEY_OK;
}

void ranks_file_close(ranks_file *file)
{
    (void)file;
}
