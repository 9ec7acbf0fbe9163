#include "map_keeping.h"

#include "console.h"
#include "file.h"
#include "job_report.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* In that form checksums of all atoms are at the end, and no rank may have all of them. */
static bool has_checksum(const char *path)
{
    return ends_with(path, ".atoms");
}

static uint64_t hash_of_end(const char *path)
{
    char end[64];
    uint64_t hash = HASH_OF_NOTHING;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return hash;
    if (fseek(file, -(long)sizeof end, SEEK_END) == 0)
        hash = hash_bytes(hash, end, fread(end, 1, sizeof end, file));
    fclose(file);
    return hash;
}

static uint64_t hash_of_atoms(const ley_atoms *atoms)
{
    const size_t n = ley_atoms_count(atoms);
    uint64_t hash = hash_bytes(HASH_OF_NOTHING, ley_atoms_positions_A(atoms), 3 * n * sizeof(double));
    hash = hash_bytes(hash, ley_atoms_charges_e(atoms), n * sizeof(double));
    return hash_bytes(hash, ley_atoms_radii_A(atoms), n * sizeof(double));
}

/* What it says, whatever it is called. */
static uint64_t hash_of_file(const char *path)
{
    char block[4096];
    uint64_t hash = HASH_OF_NOTHING;
    FILE *file = fopen(path, "rb");
    for (size_t n; file != NULL && (n = fread(block, 1, sizeof block, file)) > 0;)
        hash = hash_bytes(hash, block, n);
    if (file != NULL)
        fclose(file);
    return hash;
}

/* Only devices of a plan take part; of one kind they make the same bytes, whichever are named. */
static bool settles_device(const plan_file *plan)
{
    const char *device = NULL;
    bool is_one = true;
    for (size_t i = 0; i < plan->count; i++) {
        const char *other = plan->decisions[i].device;
        is_one = is_one && (other == NULL || device == NULL || strcmp(other, device) == 0);
        device = other != NULL ? other : device;
    }
    return is_one && device != NULL;
}

/* Options on which no value depends, or that other lines are about. */
static bool is_left_out(const char *name, const plan_file *plan)
{
    static const char *const names[] = {"output", "json",         "quiet",  "resume",  "plan",   "ranks", "link",
                                        "like",   "side-by-side", "format", "dry-run", "verify", "seed"};
    bool is = strcmp(name, "device") == 0 && settles_device(plan);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is = is || strcmp(name, names[i]) == 0;
    return is;
}

static char *text_of_option(const option_row *row, json_t *value)
{
    char *text = value != NULL ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL, *whole = text;
    if (text != NULL && row->is_input && json_is_string(value)) {
        if (asprintf(&whole, "%s, checksum %016llx", text, (unsigned long long)hash_of_file(json_string_value(value))) <
            0)
            whole = NULL;
        free(text);
    }
    return whole;
}

/* Lines of options, but for devices where these are not wanted. */
static void put_options(FILE *to, const parsed_arguments *arguments, const plan_file *plan, bool with_devices)
{
    json_t *all = json_begin(arguments);
    for (size_t i = 0; i < arguments->option_count; i++) {
        const option_row *row = arguments->options[i].row;
        if (is_left_out(row->name, plan) || (!with_devices && strcmp(row->name, "device") == 0))
            continue;
        char *text = text_of_option(row, json_object_get(json_object_get(all, "options"), row->name));
        if (text != NULL)
            fprintf(to, "--%s: %s\n", row->name, text);
        free(text);
    }
    json_decref(all);
}

uint64_t map_keeping_options(const parsed_arguments *arguments, const plan_file *plan)
{
    comment_text text;
    comment_begin(&text);
    put_options(text.stream, arguments, plan, false);
    char *lines = comment_end(&text);
    const uint64_t hash = lines != NULL ? hash_bytes(HASH_OF_NOTHING, lines, strlen(lines)) : 0;
    free(lines);
    return hash;
}

char *map_keeping_text(const parsed_arguments *arguments, const ley_atoms *atoms, const ley_grid *grid,
                       const plan_file *plan)
{
    comment_text text;
    comment_begin(&text);
    fprintf(text.stream, "leyden %s\n", ley_version());
    const char *path = arguments->operand;
    if (has_checksum(path))
        fprintf(text.stream, "molecule: %llu bytes, checksum %016llx\n", (unsigned long long)file_size(path),
                (unsigned long long)hash_of_end(path));
    else
        fprintf(text.stream, "molecule: %zu atoms, checksum %016llx\n", ley_atoms_count(atoms),
                (unsigned long long)hash_of_atoms(atoms));
    put_options(text.stream, arguments, plan, true);
    fprintf(text.stream, "grid: %lld, %lld, %lld points from %.17g, %.17g, %.17g A", (long long)grid->n[0],
            (long long)grid->n[1], (long long)grid->n[2], grid->origin_A[0], grid->origin_A[1], grid->origin_A[2]);
    for (int i = 0; i < 9; i++)
        fprintf(text.stream, "%s%.17g", i == 0 ? " by " : ", ", grid->step_A[i / 3][i % 3]);
    fputs(" A\n", text.stream);
    for (size_t i = 0; i < plan->count; i++) {
        const ley_decision *d = &plan->decisions[i];
        fprintf(text.stream, "plan of %s: %s %s\n", d->device != NULL ? d->device : "all", d->name, d->value);
    }
    return comment_end(&text);
}

ley_status map_keep(ley_map *map, const char *path, const char *text, ley_error *error)
{
    char *kept = NULL;
    if (asprintf(&kept, "%s.checkpoint", path) < 0)
        return fail_into(error, LEY_ERROR_MEMORY, "out of memory for a name");
    const ley_status status = ley_map_keep(map, kept, text, error);
    free(kept);
    return status;
}
