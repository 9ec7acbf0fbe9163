#include "memory/upload.h"

#include "error.h"
#include "parallel.h"

#include <pthread.h>
#include <string.h>

/* Places for pieces; how many are on their way before the first of them is waited for; and threads
 * that fill them, which together are faster than a bus. */
enum { PLACES = 16, ON_THEIR_WAY = 4, MOST_THREADS = 8 };

typedef struct upload {
    const char *bytes;
    size_t size, pieces;
    dev_staging *staging;  /* of PLACES pieces */
    pthread_mutex_t mutex; /* for what follows */
    pthread_cond_t changed;
    size_t taken, arrived; /* pieces that threads have begun with, and that are on the device */
    bool is_filled[PLACES], is_over;
} upload;

static size_t bytes_of(const upload *u, size_t piece)
{
    const size_t from = piece * UPLOAD_PIECE;
    return u->size - from < UPLOAD_PIECE ? u->size - from : UPLOAD_PIECE;
}

/* A piece to fill, once there is a place for it; false: there are no more. */
static bool take(upload *u, size_t *piece)
{
    pthread_mutex_lock(&u->mutex);
    *piece = u->taken++;
    while (*piece < u->pieces && *piece >= u->arrived + PLACES && !u->is_over)
        pthread_cond_wait(&u->changed, &u->mutex);
    const bool is_one = *piece < u->pieces && !u->is_over;
    pthread_mutex_unlock(&u->mutex);
    return is_one;
}

static void *fill(void *context)
{
    upload *u = context;
    for (size_t piece; take(u, &piece);) {
        const size_t place = piece % PLACES;
        memcpy((char *)u->staging->bytes + place * UPLOAD_PIECE, u->bytes + piece * UPLOAD_PIECE, bytes_of(u, piece));
        pthread_mutex_lock(&u->mutex);
        u->is_filled[place] = true;
        pthread_cond_broadcast(&u->changed);
        pthread_mutex_unlock(&u->mutex);
    }
    return NULL;
}

static void await(upload *u, size_t piece)
{
    pthread_mutex_lock(&u->mutex);
    while (!u->is_filled[piece % PLACES])
        pthread_cond_wait(&u->changed, &u->mutex);
    u->is_filled[piece % PLACES] = false;
    pthread_mutex_unlock(&u->mutex);
}

static void tell(upload *u, size_t arrived, bool is_over)
{
    pthread_mutex_lock(&u->mutex);
    u->arrived = arrived;
    u->is_over = is_over;
    pthread_cond_broadcast(&u->changed);
    pthread_mutex_unlock(&u->mutex);
}

/* All pieces in their order; waits for each that has been sent, whatever fails. */
static ley_status send_pieces(upload *u, dev *device, dev_buffer *buffer, size_t offset, ley_error *error)
{
    const dev_backend *backend = device->backend;
    dev_event *sent[ON_THEIR_WAY];
    ley_status status = LEY_OK;
    size_t begun = 0, arrived = 0;
    while ((begun < u->pieces && status == LEY_OK) || arrived < begun) {
        if (begun == arrived + ON_THEIR_WAY || begun == u->pieces || status != LEY_OK) {
            const ley_status waited =
                backend->wait(device, sent[arrived++ % ON_THEIR_WAY], NULL, status == LEY_OK ? error : NULL);
            status = status == LEY_OK ? waited : status;
            tell(u, arrived, status != LEY_OK);
            continue;
        }
        await(u, begun);
        status = backend->send(device, buffer, offset + begun * UPLOAD_PIECE, u->staging, begun % PLACES * UPLOAD_PIECE,
                               bytes_of(u, begun), &sent[begun % ON_THEIR_WAY], error);
        begun += status == LEY_OK;
    }
    tell(u, arrived, true);
    return status;
}

/* Where there can be no threads, the driver alone does it. */
static ley_status send_with_threads(upload *u, dev *device, dev_buffer *buffer, size_t offset, ley_error *error)
{
    pthread_t threads[MOST_THREADS];
    const int wanted = parallel_cores() < MOST_THREADS ? parallel_cores() : MOST_THREADS;
    int running = 0;
    while (running < wanted && parallel_start(&threads[running], fill, u) == 0)
        running++;
    const ley_status status = running > 0 ? send_pieces(u, device, buffer, offset, error)
                                          : device->backend->write(device, buffer, offset, u->bytes, u->size, error);
    for (int i = 0; i < running; i++)
        pthread_join(threads[i], NULL);
    return status;
}

ley_status upload_bytes(dev *device, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                        ley_error *error)
{
    const dev_backend *backend = device->backend;
    upload u = {.bytes = bytes, .size = size, .pieces = (size + UPLOAD_PIECE - 1) / UPLOAD_PIECE};
    if (size < UPLOAD_LEAST_BYTES || device->info->device_class != DEV_GPU ||
        backend->staging_create(device, PLACES * UPLOAD_PIECE, &u.staging, NULL) != LEY_OK)
        return backend->write(device, buffer, offset, bytes, size, error);
    pthread_mutex_init(&u.mutex, NULL);
    pthread_cond_init(&u.changed, NULL);
    const ley_status status = send_with_threads(&u, device, buffer, offset, error);
    pthread_cond_destroy(&u.changed);
    pthread_mutex_destroy(&u.mutex);
    backend->staging_destroy(device, u.staging);
    return status;
}
