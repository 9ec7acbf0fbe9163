/* Ranks of MPI. All calls of MPI are made one at a time, by whichever thread, and none of them
 * waits inside MPI for what another rank does: a thread that waits looks again and again, ever less
 * often, and others get at MPI in between. Counters are numbers in a window, which other ranks add
 * to one-sidedly, as they look at what a rank shows; where the network needs that rank for it, a
 * thread of it looks in: of rank 0 always, of others while they show something. */
#include "ranks.h"

#include "clock.h"
#include "error.h"

#include <mpi.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST_WAIT_NS = 10000, MOST_WAIT_NS = 100000, MOST_AT_ONCE = 1 << 30, TAG = 1, LOOKS = 64 };
enum { BETWEEN_LOOKS_NS = 1000000 }; /* of an attendant */
/* Of a counter: a line of caches. Where it is 8, ranks 0 and 1 of MPICH 4.0 have the same one. */
enum { COUNTER_BYTES = 64 };
enum { SHORT_MESSAGE = 1 << 18, LONG_MESSAGE = 1 << 22 }; /* bytes */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count = 1, own, local_count = 1, local;
static bool is_begun, is_attended;
static atomic_bool is_parted, is_over;
static MPI_Win window = MPI_WIN_NULL, shown = MPI_WIN_NULL;
static MPI_Comm beside; /* for what stands in no order with the rest */
static pthread_t attendant;
static ranks_speed speed = {.bytes_per_s = INFINITY};

struct ranks_exchange {
    MPI_Request request;
    MPI_Datatype unit;
    int *counts, *first;         /* [count] */
    MPI_Datatype *planes, *rows; /* of a turn, [count]: what goes to or comes from each rank */
};

struct ranks_file {
    MPI_File file;
    char path[];
};

static void doze(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* The mutex is free while nothing happens. What takes no longer than a link is not slept through:
 * the first looks follow each other. */
static void wait_for(MPI_Request *request)
{
    int is_done = 0;
    long ns = LEAST_WAIT_NS;
    for (int looks = 0;; looks++) {
        pthread_mutex_lock(&mutex);
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&mutex);
        if (is_done)
            return;
        if (looks < LOOKS) {
            sched_yield();
            continue;
        }
        doze(ns);
        ns = 2 * ns < MOST_WAIT_NS ? 2 * ns : MOST_WAIT_NS;
    }
}

/* Lets the network's requests to this rank be served, whatever its other threads are at. */
static void *attend(void *context)
{
    (void)context;
    while (!atomic_load(&is_over)) {
        int is_there;
        pthread_mutex_lock(&mutex);
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&mutex);
        doze(BETWEEN_LOOKS_NS);
    }
    return NULL;
}

static ley_status begin_attending(ley_error *error)
{
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &former);
    atomic_store(&is_over, false);
    const int reason = pthread_create(&attendant, NULL, attend, NULL);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    return reason == 0 ? LEY_OK : ley_fail(error, LEY_ERROR_MEMORY, "MPI: no thread: %s", strerror(reason));
}

static void end_attending(void)
{
    atomic_store(&is_over, true);
    pthread_join(attendant, NULL);
}

static void find_neighbours(void)
{
    MPI_Comm here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &local_count);
    MPI_Comm_rank(here, &local);
    MPI_Comm_free(&here);
}

static ley_status measure_speed(ley_error *error);

ley_status ranks_begin(ley_error *error)
{
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    is_begun = true;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    if (count == 1)
        return LEY_OK;
    if (provided < MPI_THREAD_SERIALIZED)
        return ley_fail(
            error, LEY_ERROR_USAGE,
            "this MPI cannot be called by more than one thread of a process: build leyden-mpi with one that has "
            "MPI_THREAD_SERIALIZED (make MPI=1 MPICC=...), or start one rank");
    int64_t *counter;
    find_neighbours();
    MPI_Comm_dup(MPI_COMM_WORLD, &beside);
    MPI_Win_allocate(COUNTER_BYTES, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    ranks_count_anew();
    const ley_status status = measure_speed(error);
    return own == 0 && status == LEY_OK ? begin_attending(error) : status;
}

void ranks_end(void)
{
    if (!is_begun)
        return;
    atomic_store(&is_parted, false);
    if (count > 1) {
        ranks_count_anew(); /* which waits for all */
        if (own == 0)
            end_attending();
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
        MPI_Comm_free(&beside);
    }
    MPI_Finalize();
    is_begun = false;
    count = 1;
    own = 0;
}

/* Also while another thread is inside MPI, which may wait there for ever. */
void ranks_abort(int code)
{
    if (is_begun)
        MPI_Abort(MPI_COMM_WORLD, code);
}

int ranks_count(void)
{
    return atomic_load(&is_parted) ? 1 : count;
}

int ranks_own(void)
{
    return atomic_load(&is_parted) ? 0 : own;
}

int ranks_local_count(void)
{
    return local_count;
}

int ranks_local(void)
{
    return local;
}

void ranks_part(bool is_alone)
{
    atomic_store(&is_parted, is_alone);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static int part_of(size_t size, size_t at)
{
    return (int)(size - at < MOST_AT_ONCE ? size - at : MOST_AT_ONCE);
}

void ranks_broadcast(void *bytes, size_t size)
{
    for (size_t at = 0; at < size && ranks_count() > 1; at += MOST_AT_ONCE) {
        MPI_Request request;
        pthread_mutex_lock(&mutex);
        MPI_Ibcast((char *)bytes + at, part_of(size, at), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        pthread_mutex_unlock(&mutex);
        wait_for(&request);
    }
}

void ranks_share(const void *mine, size_t size, void *all)
{
    MPI_Request request;
    if (ranks_count() == 1) {
        memcpy(all, mine, size);
        return;
    }
    pthread_mutex_lock(&mutex);
    MPI_Iallgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&mutex);
    wait_for(&request);
}

void ranks_add(double *numbers, size_t n)
{
    MPI_Request request;
    if (ranks_count() == 1)
        return;
    pthread_mutex_lock(&mutex);
    MPI_Iallreduce(MPI_IN_PLACE, numbers, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&mutex);
    wait_for(&request);
}

void ranks_send_to(int to, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += MOST_AT_ONCE) {
        MPI_Request request;
        pthread_mutex_lock(&mutex);
        MPI_Isend((const char *)bytes + at, part_of(size, at), MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
        pthread_mutex_unlock(&mutex);
        wait_for(&request);
    }
}

void ranks_send(const void *bytes, size_t size)
{
    ranks_send_to(0, bytes, size);
}

void ranks_receive(int from, void *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += MOST_AT_ONCE) {
        MPI_Request request;
        pthread_mutex_lock(&mutex);
        MPI_Irecv((char *)bytes + at, part_of(size, at), MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
        pthread_mutex_unlock(&mutex);
        wait_for(&request);
    }
}

/* ---- Exchanges ------------------------------------------------------------------------------- */

static ranks_exchange *create_exchange(void)
{
    ranks_exchange *x = calloc(1, sizeof *x);
    int *numbers = calloc(2 * (size_t)count, sizeof *numbers);
    MPI_Datatype *types = calloc(2 * (size_t)count, sizeof *types);
    if (x == NULL || numbers == NULL || types == NULL) { /* others wait for it */
        ranks_abort(LEY_ERROR_MEMORY);
        abort();
    }
    *x = (ranks_exchange){.counts = numbers, .first = numbers + count, .planes = types, .rows = types + count};
    return x;
}

ranks_exchange *ranks_exchange_begin(void *array, size_t unit, const int64_t *first)
{
    ranks_exchange *x = create_exchange();
    for (int r = 0; r < count; r++) {
        x->first[r] = (int)first[r];
        x->counts[r] = (int)(first[r + 1] - first[r]);
    }
    pthread_mutex_lock(&mutex);
    MPI_Type_contiguous((int)unit, MPI_BYTE, &x->unit);
    MPI_Type_commit(&x->unit);
    MPI_Iallgatherv(MPI_IN_PLACE, 0, x->unit, array, x->counts, x->first, x->unit, beside, &x->request);
    pthread_mutex_unlock(&mutex);
    return x;
}

/* Blocks of rows, `stride` rows apart, from the `first` on. */
static MPI_Datatype rows_of(MPI_Datatype row, size_t row_bytes, int64_t first, int64_t blocks, int64_t rows,
                            int64_t stride)
{
    const int one = 1;
    const MPI_Aint place = (MPI_Aint)first * (MPI_Aint)row_bytes;
    MPI_Datatype block, blocks_at_0, made;
    MPI_Type_contiguous((int)rows, row, &block);
    MPI_Type_create_hvector((int)blocks, 1, (MPI_Aint)stride * (MPI_Aint)row_bytes, block, &blocks_at_0);
    MPI_Type_create_hindexed(1, &one, &place, blocks_at_0, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&block);
    MPI_Type_free(&blocks_at_0);
    return made;
}

ranks_exchange *ranks_turn_begin(void *planes, void *columns, size_t row_bytes, const int64_t *plane,
                                 const int64_t *row, bool there)
{
    ranks_exchange *x = create_exchange();
    const int64_t own_planes = plane[own + 1] - plane[own], own_rows = row[own + 1] - row[own];
    pthread_mutex_lock(&mutex);
    MPI_Type_contiguous((int)row_bytes, MPI_BYTE, &x->unit);
    for (int r = 0; r < count; r++) {
        const int64_t rows = row[r + 1] - row[r], others = plane[r + 1] - plane[r];
        x->counts[r] = 1;
        x->planes[r] = rows_of(x->unit, row_bytes, row[r], own_planes, rows, row[count]);
        x->rows[r] = rows_of(x->unit, row_bytes, plane[r] * own_rows, others, own_rows, own_rows);
    }
    if (there)
        MPI_Ialltoallw(planes, x->counts, x->first, x->planes, columns, x->counts, x->first, x->rows, beside,
                       &x->request);
    else
        MPI_Ialltoallw(columns, x->counts, x->first, x->rows, planes, x->counts, x->first, x->planes, beside,
                       &x->request);
    pthread_mutex_unlock(&mutex);
    return x;
}

void ranks_deal(const void *mine, const int64_t *to, void *all, const int64_t *from, size_t unit)
{
    ranks_exchange *x = create_exchange(), *y = create_exchange(); /* there, and here */
    for (int r = 0; r < count; r++) {
        x->first[r] = (int)to[r];
        x->counts[r] = (int)(to[r + 1] - to[r]);
        y->first[r] = (int)from[r];
        y->counts[r] = (int)(from[r + 1] - from[r]);
    }
    pthread_mutex_lock(&mutex);
    MPI_Type_contiguous((int)unit, MPI_BYTE, &x->unit);
    MPI_Type_commit(&x->unit);
    MPI_Ialltoallv(mine, x->counts, x->first, x->unit, all, y->counts, y->first, x->unit, MPI_COMM_WORLD, &x->request);
    pthread_mutex_unlock(&mutex);
    ranks_exchange_end(x);
    free(y->counts);
    free(y->planes);
    free(y);
}

bool ranks_exchange_is_done(ranks_exchange *x)
{
    int is_done = 0;
    pthread_mutex_lock(&mutex);
    MPI_Test(&x->request, &is_done, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&mutex);
    return is_done != 0;
}

void ranks_exchange_end(ranks_exchange *x)
{
    if (x == NULL)
        return;
    wait_for(&x->request);
    pthread_mutex_lock(&mutex);
    MPI_Type_free(&x->unit);
    for (int i = 0; i < 2 * count && x->planes[0] != (MPI_Datatype)0; i++)
        MPI_Type_free(&x->planes[i]);
    pthread_mutex_unlock(&mutex);
    free(x->counts);
    free(x->planes);
    free(x);
}

/* ---- The link -------------------------------------------------------------------------------- */

/* A message of `size` bytes, whose first ones say so, there and back: the fastest of some. */
static double fastest_round_s(int other, int64_t *bytes, int64_t size, int rounds)
{
    double best_s = INFINITY;
    for (int i = 0; i < rounds; i++) {
        const double start_s = ley_clock_s();
        bytes[0] = size;
        ranks_send_to(other, bytes, (size_t)size);
        ranks_receive(other, bytes, (size_t)size);
        best_s = fmin(best_s, ley_clock_s() - start_s);
    }
    return best_s;
}

static void measure_from_first(int other, int64_t *bytes)
{
    const double least_s = 1e-9, at_once_s = 5e-4; /* for a message */
    speed.latency_s = fastest_round_s(other, bytes, sizeof *bytes, 16) / 2;
    const double short_s = fmax(fastest_round_s(other, bytes, SHORT_MESSAGE, 2) / 2, least_s);
    const double fitting = SHORT_MESSAGE * at_once_s / short_s;
    const int64_t size = fitting < LONG_MESSAGE ? (int64_t)fmax(fitting, SHORT_MESSAGE) : LONG_MESSAGE;
    const double long_s = fastest_round_s(other, bytes, size, 3) / 2;
    speed.bytes_per_s = (double)size / fmax(long_s - speed.latency_s, least_s);
    bytes[0] = 0;
    ranks_send_to(other, bytes, sizeof *bytes);
}

static void answer_first(int64_t *bytes)
{
    for (;;) {
        MPI_Request request;
        pthread_mutex_lock(&mutex);
        MPI_Irecv(bytes, LONG_MESSAGE, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
        pthread_mutex_unlock(&mutex);
        wait_for(&request);
        if (bytes[0] == 0)
            return;
        ranks_send(bytes, (size_t)bytes[0]);
    }
}

/* Between rank 0 and the last one, which is the farthest where ranks are placed as usual, while the
 * others wait; within 10 ms on links of clusters. */
static ley_status measure_speed(ley_error *error)
{
    int64_t *bytes = own == 0 || own == count - 1 ? calloc(1, LONG_MESSAGE) : NULL;
    if (bytes == NULL && (own == 0 || own == count - 1))
        return ley_fail_memory(error, LONG_MESSAGE, "a message to another rank");
    if (own == 0)
        measure_from_first(count - 1, bytes);
    else if (own == count - 1)
        answer_first(bytes);
    free(bytes);
    ranks_broadcast(&speed, sizeof speed);
    return LEY_OK;
}

ranks_speed ranks_link(void)
{
    return speed;
}

/* ---- Counters -------------------------------------------------------------------------------- */

int64_t ranks_count_on(int of, int64_t more)
{
    static int64_t alone;
    int64_t before = 0;
    pthread_mutex_lock(&mutex);
    if (count == 1) {
        before = alone;
        alone += more;
    } else {
        MPI_Fetch_and_op(&more, &before, MPI_INT64_T, of, 0, MPI_SUM, window);
        MPI_Win_flush(of, window);
    }
    pthread_mutex_unlock(&mutex);
    return before;
}

static void wait_for_all(void)
{
    MPI_Request request;
    pthread_mutex_lock(&mutex);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    pthread_mutex_unlock(&mutex);
    wait_for(&request);
}

void ranks_count_anew(void)
{
    if (count == 1) {
        ranks_count_on(0, -ranks_count_on(0, 0));
        return;
    }
    wait_for_all();
    const int64_t nothing = 0;
    int64_t before;
    pthread_mutex_lock(&mutex);
    MPI_Fetch_and_op(&nothing, &before, MPI_INT64_T, own, 0, MPI_REPLACE, window);
    MPI_Win_flush(own, window);
    pthread_mutex_unlock(&mutex);
    wait_for_all();
}

/* ---- What others look at --------------------------------------------------------------------- */

/* Windows are made and freed inside MPI by all ranks at once: when all are there. */
void ranks_show(const void *bytes, size_t size)
{
    ley_error unheard = {.status = LEY_OK};
    wait_for_all();
    pthread_mutex_lock(&mutex);
    MPI_Win_create((void *)(uintptr_t)bytes, (MPI_Aint)size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shown);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, shown);
    pthread_mutex_unlock(&mutex);
    is_attended = own > 0 && begin_attending(&unheard) == LEY_OK; /* else others wait until this rank calls MPI */
    ley_error_clear(&unheard);
}

void ranks_look(int rank, size_t at, void *bytes, size_t size)
{
    for (size_t done = 0; done < size; done += MOST_AT_ONCE) {
        MPI_Request request;
        const int part = part_of(size, done);
        pthread_mutex_lock(&mutex);
        MPI_Rget((char *)bytes + done, part, MPI_BYTE, rank, (MPI_Aint)(at + done), part, MPI_BYTE, shown, &request);
        pthread_mutex_unlock(&mutex);
        wait_for(&request);
    }
}

void ranks_show_no_more(void)
{
    if (is_attended)
        end_attending();
    is_attended = false;
    wait_for_all();
    pthread_mutex_lock(&mutex);
    MPI_Win_unlock_all(shown);
    MPI_Win_free(&shown);
    pthread_mutex_unlock(&mutex);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static ley_status fail_file(const char *path, int code, ley_error *error)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, why, &length);
    return ley_fail(error, LEY_ERROR_FILE,
                    "%s: %s; all ranks write there: put the output into a folder that all nodes "
                    "have",
                    path, why);
}

ley_status ranks_file_open(const char *path, ranks_file **file, ley_error *error)
{
    const size_t length = strlen(path) + 1;
    ranks_file *made = malloc(sizeof *made + length);
    if (made == NULL)
        return ley_fail_memory(error, sizeof *made + length, "a map's file");
    memcpy(made->path, path, length);
    pthread_mutex_lock(&mutex);
    const int code = MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &made->file);
    pthread_mutex_unlock(&mutex);
    if (code != MPI_SUCCESS) {
        free(made);
        return fail_file(path, code, error);
    }
    *file = made;
    return LEY_OK;
}

ley_status ranks_file_write(ranks_file *file, const void *bytes, size_t size, int64_t offset, ley_error *error)
{
    int code = MPI_SUCCESS;
    for (size_t at = 0; at < size && code == MPI_SUCCESS; at += MOST_AT_ONCE) {
        pthread_mutex_lock(&mutex);
        code = MPI_File_write_at(file->file, offset + (MPI_Offset)at, (const char *)bytes + at, part_of(size, at),
                                 MPI_BYTE, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&mutex);
    }
    return code == MPI_SUCCESS ? LEY_OK : fail_file(file->path, code, error);
}

ley_status ranks_file_flush(ranks_file *file, ley_error *error)
{
    pthread_mutex_lock(&mutex);
    const int code = MPI_File_sync(file->file);
    pthread_mutex_unlock(&mutex);
    return code == MPI_SUCCESS ? LEY_OK : fail_file(file->path, code, error);
}

void ranks_file_close(ranks_file *file)
{
    if (file == NULL)
        return;
    pthread_mutex_lock(&mutex);
    MPI_File_close(&file->file);
    pthread_mutex_unlock(&mutex);
    free(file);
}
