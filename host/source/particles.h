/* What is behind ley_particles. */
#ifndef LEY_SOURCE_PARTICLES_H
#define LEY_SOURCE_PARTICLES_H

#include "leyden.h"

struct ley_particles {
    ley_particles_arrays arrays; /* of its own */
    void *texts;                 /* where names are; NULL: none */
};

/* An array of ley_particles_arrays, whose name it has in files, too. */
typedef enum particles_type { PARTICLES_NUMBERS, PARTICLES_WHOLE, PARTICLES_TEXTS } particles_type;

typedef struct particles_member {
    const char *name;
    size_t at;   /* its offset, */
    size_t of;   /* that of how many rows there are, */
    int columns; /* and what a row has: 0: one; PARTICLES_SQUARE: as many as there are rows */
    particles_type type;
    bool is_optional;
    double least, most; /* of numbers; */
    size_t below;       /* of whole ones, the offset of a count of what they are indices of; 0: none */
} particles_member;

enum { PARTICLES_SQUARE = -1, PARTICLES_MEMBERS = 21, PARTICLES_MOST_NAME = 63 };
extern const particles_member particles_members[PARTICLES_MEMBERS];

const void *particles_array(const ley_particles_arrays *arrays, const particles_member *member);
void particles_set_array(ley_particles_arrays *arrays, const particles_member *member, const void *array);

/* Rows, and values in all of them together. */
int64_t particles_rows(const ley_particles_arrays *arrays, const particles_member *member);
int64_t particles_values(const ley_particles_arrays *arrays, const particles_member *member);

#endif
