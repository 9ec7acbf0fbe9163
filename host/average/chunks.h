/* Frames on their way: chunks of them, which are dealt to devices, kept until these have handed
 * over their sums, and dealt again where a device fails. A chunk begins at a multiple of its length
 * or of a block's, by the frames' numbers in the whole run, so that the same frames make the same
 * sums however they are added: processors add up floats within a chunk. */
#ifndef LEY_AVERAGE_CHUNKS_H
#define LEY_AVERAGE_CHUNKS_H

#include "average/place.h"

#include <stddef.h>

typedef struct chunk {
    struct chunk *next;
    int64_t first;         /* number of its first frame, from 0 */
    int frames, most, had; /* the last: the most that it has had */
    bool is_partial;       /* a copy of a chunk that is not full: sums of it go nowhere for good */
    float *position_A;     /* [most][atoms][3] */
    int fills;             /* how often it has begun to be filled */
    bool may_move;         /* nobody but the device that takes it next knows where the positions are */
    bool is_locked;        /* they are in page-locked memory of a device's, which lasts as long as the average */
    bool is_kept;          /* their memory is never freed: a driver that has not returned may read it */
    float *floats;         /* [most][PLACE_FLOATS] */
    frame_place *place;    /* [most] */
    double (*cell_A)[9];
    double (*structure)[2]; /* their structure factors; see structure.h */
} chunk;

/* Frames of a chunk of so many atoms, and how many chunks are kept, for so many devices. */
int chunk_frames(size_t atoms);
int chunk_count(size_t atoms, size_t devices);

/* NULL: no memory. */
chunk *chunk_create(size_t atoms, int most);
void chunk_destroy(chunk *c);

/* Its positions, which the caller has copied, are in a device's page-locked memory from here on. */
void chunk_move(chunk *c, float *locked);

/* ---- Lists ----------------------------------------------------------------------------------- */

typedef struct chunk_list {
    chunk *first, *last;
    int count;
} chunk_list;

void chunk_append(chunk_list *list, chunk *c);
chunk *chunk_take(chunk_list *list);                  /* the first one; NULL: there is none */
void chunk_join(chunk_list *list, chunk_list *other); /* all of the other one, to the front */

#endif
