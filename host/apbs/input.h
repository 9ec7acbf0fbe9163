/* What an APBS input file says. The parser fills it, the molecules are read, then each ELEC section
 * gets its grid. Limits and rules are those of APBS 3.4.1; docs/apbs.md lists them. */
#ifndef LEY_APBS_INPUT_H
#define LEY_APBS_INPUT_H

#include "apbs/tokens.h"
#include "leyden.h"

enum {
    LEY_APBS_BYTES_MAX = 1 << 20, /* of an input file; leyden's own limit */
    LEY_APBS_ELECS_MAX = 20,      /* ELEC sections, and calculations in all */
    LEY_APBS_MOLECULES_MAX = 20,
    LEY_APBS_IONS_MAX = 9,
    LEY_APBS_PATH_MAX = 1023,  /* bytes */
    LEY_APBS_LEVELS_LEAST = 4, /* of multigrid, that dimensions above 65 are cut for */
    LEY_APBS_WARNINGS_MAX = 100,
    LEY_APBS_FILES_MAX = 500 /* that are kept in mind; further ones are not looked at */
};

/* Keywords of multigrid calculations. ROW(name, what follows, how many of them); SPECIAL has a
 * function of its own. */
/* clang-format off */
#define LEY_APBS_KEYWORD_TABLE(ROW) \
    ROW(MOL, INTEGERS, 1) ROW(DIME, INTEGERS, 3) ROW(NLEV, INTEGERS, 1) ROW(PDIME, INTEGERS, 3) \
    ROW(ASYNC, INTEGERS, 1) ROW(ETOL, NUMBERS, 1) ROW(GRID, NUMBERS, 3) ROW(GLEN, NUMBERS, 3) \
    ROW(CGLEN, NUMBERS, 3) ROW(FGLEN, NUMBERS, 3) ROW(OFRAC, NUMBERS, 1) ROW(PDIE, NUMBERS, 1) \
    ROW(SDIE, NUMBERS, 1) ROW(SDENS, NUMBERS, 1) ROW(SRAD, NUMBERS, 1) ROW(SWIN, NUMBERS, 1) \
    ROW(TEMP, NUMBERS, 1) ROW(ZMEM, NUMBERS, 1) ROW(LMEM, NUMBERS, 1) ROW(MDIE, NUMBERS, 1) \
    ROW(MEMV, NUMBERS, 1) ROW(GCENT, CENTER, 1) ROW(CGCENT, CENTER, 1) ROW(FGCENT, CENTER, 1) \
    ROW(LPBE, NUMBERS, 0) ROW(NPBE, NUMBERS, 0) ROW(LRPBE, NUMBERS, 0) ROW(NRPBE, NUMBERS, 0) \
    ROW(USEAQUA, NUMBERS, 0) ROW(GAMMA, WORD, 1) ROW(BCFL, CHOICE, 1) ROW(SRFM, CHOICE, 1) ROW(CHGM, CHOICE, 1) \
    ROW(CALCENERGY, CHOICE, 1) ROW(CALCFORCE, CHOICE, 1) ROW(SMPBE, SPECIAL, 1) ROW(ION, SPECIAL, 1) \
    ROW(USEMAP, SPECIAL, 1) ROW(WRITE, SPECIAL, 1) ROW(WRITEMAT, SPECIAL, 1)
/* clang-format on */

typedef enum ley_apbs_keyword {
#define LEY_APBS_ROW(name, follows, count) LEY_APBS_##name,
    LEY_APBS_KEYWORD_TABLE(LEY_APBS_ROW)
#undef LEY_APBS_ROW
        LEY_APBS_KEYWORDS
} ley_apbs_keyword;

_Static_assert(LEY_APBS_KEYWORDS <= 64, "a bit each");

typedef enum ley_apbs_type {
    LEY_APBS_MANUAL,
    LEY_APBS_AUTO,
    LEY_APBS_PARA,
    LEY_APBS_DUMMY,
    LEY_APBS_NO_GRID /* finite elements, boundary elements, ...: left alone */
} ley_apbs_type;

/* As APBS numbers them in `bcfl 2`. */
enum { LEY_APBS_BCFL_ZERO, LEY_APBS_BCFL_SDH, LEY_APBS_BCFL_MDH, LEY_APBS_BCFL_MEM = 5, LEY_APBS_BCFL_MAP = 6 };

enum { LEY_APBS_MAP_DIEL, LEY_APBS_MAP_KAPPA, LEY_APBS_MAP_POT, LEY_APBS_MAP_CHARGE, LEY_APBS_MAP_KINDS };

/* An ELEC section as it is written. */
typedef struct ley_apbs_facts {
    ley_apbs_type type;
    int line;
    uint64_t set;                       /* bit k: keyword k was there */
    double value[LEY_APBS_KEYWORDS][4]; /* of a centre: x, y, z or 0, 0, 0, molecule */
    int value_line[LEY_APBS_KEYWORDS];
    size_t bcfl;                 /* the last `bcfl`; its value is the next word */
    int map[LEY_APBS_MAP_KINDS]; /* of `usemap`, from 1; 0: none */
    int map_line[LEY_APBS_MAP_KINDS];
    bool forces;
    int forces_line;
    size_t ion_count;
    ley_ion ion[LEY_APBS_IONS_MAX];
} ley_apbs_facts;

typedef struct ley_apbs_molecule_entry {
    char *path;
    int line;
    const char *format; /* "pqr", "pdb", "xml" */
    ley_atoms *atoms;   /* NULL when the format is another one */
} ley_apbs_molecule_entry;

struct ley_apbs_input {
    char *path, *text;
    size_t size;
    ley_apbs_tokens tokens;
    size_t elec_count, molecule_count, warning_count;
    ley_apbs_facts facts[LEY_APBS_ELECS_MAX];
    ley_apbs_elec elec[LEY_APBS_ELECS_MAX];
    char *name[LEY_APBS_ELECS_MAX], *type[LEY_APBS_ELECS_MAX];
    ley_apbs_molecule_entry molecule[LEY_APBS_MOLECULES_MAX];
    char *warning[LEY_APBS_WARNINGS_MAX];
    size_t file_count;
    ley_apbs_file file[LEY_APBS_FILES_MAX]; /* paths from malloc */
    int map_count[LEY_APBS_MAP_KINDS];      /* of READ */
    int parm_line;                          /* of READ's `parm`, 0: none */
    size_t read_end;                        /* END of the last READ section */
    bool has_read;
};

/* ---- Means of the parser --------------------------------------------------------------------- */

/* The next word, passed over. `section`, `line`: what the file may not end in. */
ley_status ley_apbs_take(const ley_apbs_input *input, size_t *at, const char *section, int line,
                         const ley_apbs_token **token, ley_error *error);

/* The word in quotation marks or the sequence of words that make up a path; from malloc. */
ley_status ley_apbs_take_path(const ley_apbs_input *input, size_t *at, const char *section, int line, char **path,
                              ley_error *error);

/* Keeps in mind that APBS reads, or writes, the file of this path with this ending. Errors:
 * LEY_ERROR_MEMORY. */
ley_status ley_apbs_note_file(ley_apbs_input *input, const char *path, const char *ending, bool is_written,
                              ley_error *error);

/* Whether the word is `keyword` (capitals), in any case. */
bool ley_apbs_is(const ley_apbs_input *input, const ley_apbs_token *token, const char *keyword);

static inline bool ley_apbs_has(const ley_apbs_facts *facts, ley_apbs_keyword keyword)
{
    return (facts->set >> keyword & 1) != 0;
}

/* "path:line: what"; returns LEY_ERROR_INPUT. */
ley_status ley_apbs_fail(const ley_apbs_input *input, int line, ley_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds the remark "path:line: what"; `path` NULL: the input's. A remark too many is dropped. */
void ley_apbs_warn(ley_apbs_input *input, const char *path, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
