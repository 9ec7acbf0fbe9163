#include "fft.h"

#include "bandwidth.h"
#include "build_cache.h"
#include "clock.h"
#include "error.h"
#include "fft_answer.h"
#include "kernel_wishes.h"
#include "log.h"
#include "quirks.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CANDIDATES = 8 };

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Rows along x are there for each y and z that is filled, columns along y for each z. */
double fft_least_bytes(const size_t n[3], const size_t *filled)
{
    const double n_x = (double)n[0], n_y = (double)n[1], n_z = (double)n[2],
                 f_y = filled != NULL && filled[1] > 0 ? (double)filled[1] : n_y,
                 f_z = filled != NULL && filled[2] > 0 ? (double)filled[2] : n_z;
    return 2 * sizeof(float) * n_x * (f_y * f_z + n_y * f_z + n_y * n_z);
}

bool fft_is_smooth(size_t n)
{
    static const size_t primes[] = {2, 3, 5, 7};
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
        while (n % primes[i] == 0)
            n /= primes[i];
    return n == 1;
}

size_t fft_good_size(size_t least)
{
    size_t n = least < 2 ? 2 : least + least % 2;
    while (!fft_is_smooth(n))
        n += 2;
    return n;
}

/* Whether nothing is known against one of the device's libraries, or against all of them. */
static bool is_trouble(const dev_info *info, const size_t n[3])
{
    dev_fft_library library;
    bool is_troubled = false;
    for (size_t i = 0; fft_library(info, i, &library); i++)
        is_troubled = is_troubled || quirks_of_fft(info, &library, n) != NULL;
    return is_troubled;
}

void fft_good_sizes(const dev_info *info, const size_t least[3], size_t n[3])
{
    for (int axis = 0; axis < 3; axis++)
        n[axis] = fft_good_size(least[axis]);
    while (is_trouble(info, n)) /* the slowest axis costs least */
        n[2] = fft_good_size(n[2] + 1);
}

/* ---- Libraries ------------------------------------------------------------------------------- */

bool fft_library(const dev_info *info, size_t i, dev_fft_library *library)
{
    *library = (dev_fft_library){.name = NULL};
    return info->backend->fft_library != NULL && info->backend->fft_library(info, i, library);
}

uint64_t fft_most_values(const dev_info *info)
{
    dev_fft_library library;
    uint64_t most = 0;
    for (size_t i = 0; fft_library(info, i, &library); i++) {
        const uint64_t own = library.most_values > 0 ? library.most_values : UINT64_MAX;
        most = library.unusable[0] == '\0' && own > most ? own : most;
    }
    return most;
}

bool fft_is_there(const dev_info *info, char *why, size_t size)
{
    dev_fft_library library;
    size_t used = 0;
    for (size_t i = 0; fft_library(info, i, &library); i++) {
        if (library.unusable[0] == '\0')
            return true;
        if (why != NULL && used < size)
            used += (size_t)snprintf(why + used, size - used, "%s%s: %s", used > 0 ? "; " : "", library.name,
                                     library.unusable);
    }
    if (why != NULL && used == 0)
        snprintf(why, size, "its interface, %s, has no Fourier transforms here", info->backend->name);
    return false;
}

/* ---- What is kept of a plan ------------------------------------------------------------------ */

typedef struct record {
    double error, forward_s, back_s, cold_s;
    double warm_s;     /* from what is kept; 0: that has not been done yet */
    uint64_t is_wrong; /* its known answer was off */
} record;

/* One way to make a plan: a library, with tables or without. */
typedef struct candidate {
    size_t number; /* of the library */
    dev_fft_library library;
    dev_fft_shape shape;
    cache_key key;
    bool is_recorded;
    record record;
    void *kept; /* from malloc; NULL: nothing */
    size_t kept_size;
    double prepare_s, transform_s; /* predicted */
} candidate;

static void make_key(const dev_info *info, candidate *c)
{
    char library[128], shape[256];
    snprintf(library, sizeof library, "%s %s", c->library.name, c->library.version);
    snprintf(shape, sizeof shape, "n %zu %zu %zu, filled %zu %zu %zu, in place %d, tables %d, record %zu",
             c->shape.n[0], c->shape.n[1], c->shape.n[2], c->shape.filled[0], c->shape.filled[1], c->shape.filled[2],
             c->shape.in_place, c->shape.tables, sizeof(record));
    c->key = cache_key_make(info, "fft", library, shape);
}

static bool is_time(double s)
{
    return s >= 0 && s < 1e9;
}

/* An entry that makes no sense is none. */
static bool is_sound(const record *r)
{
    return is_time(r->forward_s) && is_time(r->back_s) && is_time(r->cold_s) && is_time(r->warm_s) &&
           (r->is_wrong == 1 || (r->is_wrong == 0 && r->error >= 0 && r->error < 1));
}

/* With `keep`, takes what is kept of the plan itself, too. */
static void recall(const dev_info *info, candidate *c, bool keep)
{
    size_t size = 0;
    if ((info->quirks & DEV_QUIRK_NO_BINARY) != 0)
        return;
    char *bytes = cache_get(&c->key, &size);
    if (bytes == NULL)
        return;
    if (size >= sizeof c->record)
        memcpy(&c->record, bytes, sizeof c->record);
    c->is_recorded = size >= sizeof c->record && is_sound(&c->record);
    c->kept_size = size - (c->is_recorded ? sizeof c->record : size);
    if (c->is_recorded && keep && c->kept_size > 0 && (c->kept = malloc(c->kept_size)) != NULL)
        memcpy(c->kept, bytes + sizeof c->record, c->kept_size);
    free(bytes);
}

static void store(const dev_info *info, const candidate *c, const void *kept, size_t size)
{
    char *bytes = (info->quirks & DEV_QUIRK_NO_BINARY) == 0 ? malloc(sizeof c->record + size) : NULL;
    if (bytes == NULL)
        return;
    memcpy(bytes, &c->record, sizeof c->record);
    if (size > 0)
        memcpy(bytes + sizeof c->record, kept, size);
    cache_put(&c->key, bytes, sizeof c->record + size);
    free(bytes);
}

/* ---- What it costs --------------------------------------------------------------------------- */

enum { SIZE_CLASSES = 4 };

/* Up to 80, 160 and 320 nodes along the edge of a cube, roughly; and more. */
static int size_class(const size_t n[3])
{
    const double nodes = (double)n[0] * (double)n[1] * (double)n[2];
    return nodes <= 5.2e5 ? 0 : nodes <= 4.2e6 ? 1 : nodes <= 3.4e7 ? 2 : 3;
}

/* What libraries are expected to take before anything is known of them: to prepare a plan, and how
 * many times as long as the least bytes take to move. What is made of kernels takes a processor's
 * compiler long, and is slow there. */
static const struct {
    const char *library;
    double prepare_s, factor;
    double cpu_prepare_s, cpu_factor; /* on processors as devices */
    const char *backend;              /* whose devices it is for */
} usual[] = {{"cufft", 0.3, 2.2, 0.3, 2.2, "cuda"},
             {"fftw", 0.1, 2, 0.1, 2, "opencl"},
             {"vkfft", 1, 2.4, 10, 6, "opencl"},
             {"clfft", 8, 4, 16, 8, "opencl"},
             {NULL, 1, 2, 1, 2, NULL}};

static size_t usual_of(const char *library)
{
    size_t i = 0;
    while (usual[i].library != NULL && strcmp(usual[i].library, library) != 0)
        i++;
    return i;
}

static void look_up_usual(const dev_info *info, const char *library, bool tables, double *seconds)
{
    const size_t i = usual_of(library);
    const bool is_cpu = info->device_class == DEV_CPU;
    seconds[COST_FFT_PREPARE] = is_cpu ? usual[i].cpu_prepare_s : usual[i].prepare_s;
    seconds[COST_FFT_BYTE] =
        (is_cpu ? usual[i].cpu_factor : usual[i].factor) * bandwidth_byte_s(info, NULL) * (tables ? 1.1 : 1);
}

typedef struct fft_costs {
    char name[64];
    costs_kind kind;
} fft_costs;

static void make_costs(fft_costs *costs, const char *library, bool tables, int class)
{
    snprintf(costs->name, sizeof costs->name, "fft %s%s %d", library, tables ? " tables" : "", class);
    costs->kind = (costs_kind){
        .name = costs->name,
        .count = 2,
        .bounds = {[COST_FFT_PREPARE] = {1e-5, 1, 3600}, [COST_FFT_BYTE] = {1e-15, 1e-9, 1e-3}},
    };
}

/* Of sizes of this class, else of the next one of which anything is known; else usual. */
static void look_up_costs(const dev_info *info, const char *library, bool tables, const size_t n[3], double *seconds)
{
    const int own = size_class(n);
    fft_costs costs;
    for (int away = 0; away < SIZE_CLASSES; away++)
        for (int sign = -1; sign <= 1; sign += 2) {
            if (own + sign * away < 0 || own + sign * away >= SIZE_CLASSES)
                continue;
            make_costs(&costs, library, tables, own + sign * away);
            if (costs_known(&costs.kind, info, seconds))
                return;
        }
    look_up_usual(info, library, tables, seconds);
}

void fft_plant_costs(const dev_info *info, const char *library, bool tables, const size_t n[3], const double *seconds)
{
    fft_costs costs;
    make_costs(&costs, library, tables, size_class(n));
    costs_plant(&costs.kind, info, seconds);
}

static double least_bytes(const candidate *c)
{
    return fft_least_bytes(c->shape.n, c->shape.filled);
}

static double mean_s(const record *r)
{
    return 0.5 * (r->forward_s + r->back_s);
}

/* Of what making a plan took, test included: what it takes from what is kept of it, before anybody
 * has tried. On two cores it was 0.5 to 2 %, and most of the time was the known answer's. */
static const double kept_share = 0.05;

static void predict(const dev_info *info, candidate *c)
{
    double seconds[COSTS_MOST];
    const record *r = &c->record;
    look_up_costs(info, c->library.name, c->shape.tables, c->shape.n, seconds);
    c->prepare_s = !c->is_recorded    ? seconds[COST_FFT_PREPARE]
                   : r->warm_s > 0    ? r->warm_s
                   : c->kept_size > 0 ? kept_share * r->cold_s
                                      : r->cold_s;
    c->transform_s = c->is_recorded && mean_s(r) > 0 ? mean_s(r) : seconds[COST_FFT_BYTE] * least_bytes(c);
}

static void predict_usual(const dev_info *info, candidate *c)
{
    double seconds[COSTS_MOST];
    look_up_usual(info, c->library.name, c->shape.tables, seconds);
    c->prepare_s = seconds[COST_FFT_PREPARE];
    c->transform_s = seconds[COST_FFT_BYTE] * least_bytes(c);
}

/* What was found while a plan was made. */
static void learn(const dev_info *info, const candidate *c)
{
    fft_costs costs;
    const record *r = &c->record;
    double seconds[COSTS_MOST];
    if ((info->quirks & DEV_QUIRK_INTERPRETER) != 0 || !(mean_s(r) > 0))
        return;
    make_costs(&costs, c->library.name, c->shape.tables, size_class(c->shape.n));
    seconds[COST_FFT_PREPARE] = r->cold_s;
    seconds[COST_FFT_BYTE] = mean_s(r) / least_bytes(c);
    costs_learn(&costs.kind, info, seconds);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

typedef struct choice {
    size_t count;
    candidate list[MOST_CANDIDATES];
    char why[640]; /* others are none */
    size_t why_used;
    char passed_over[256]; /* of these, those that are wrong here, or failed */
} choice;

static double most_error(const fft_wish *wish)
{
    return wish->most_error > 0 ? wish->most_error : FFT_USUAL_ERROR;
}

static void say_why_not(choice *all, const candidate *c, const char *why)
{
    if (all->why_used < sizeof all->why)
        all->why_used += (size_t)snprintf(all->why + all->why_used, sizeof all->why - all->why_used, "%s%s%s: %s",
                                          all->why_used > 0 ? "; " : "", c->library.name,
                                          c->shape.tables ? " with tables" : "", why);
}

static void pass_over(choice *all, const candidate *c, const char *why)
{
    const size_t used = strlen(all->passed_over);
    snprintf(all->passed_over + used, sizeof all->passed_over - used, "%s%s%s: %.120s", used > 0 ? "; " : "",
             c->library.name, c->shape.tables ? " with tables" : "", why);
}

/* Why it is not to be tried; NULL: it is. */
static const char *reason_against(const dev_info *info, const fft_wish *wish, const candidate *c, char text[128])
{
    const char *quirk = quirks_of_fft(info, &c->library, c->shape.n);
    if (c->library.unusable[0] != '\0')
        return c->library.unusable;
    if (quirk != NULL)
        return quirk;
    if (c->library.most_values > 0 && fft_values(c->shape.n) > c->library.most_values)
        return "it has none of so many nodes";
    if (c->is_recorded && c->record.is_wrong)
        return "its known answer was wrong";
    if (c->is_recorded && c->record.error > most_error(wish)) {
        snprintf(text, 128, "its error is %.2g", c->record.error);
        return text;
    }
    const bool is_fast = c->library.has_tables && !c->shape.tables;
    if (wish->tables == FFT_TABLES_ANY && is_fast && !c->is_recorded && most_error(wish) < FFT_FAST_ERROR)
        return "its factors cost digits";
    return NULL;
}

static double total_s(const candidate *c, const fft_wish *wish)
{
    return c->prepare_s + c->transform_s * (wish->transforms > 0 ? wish->transforms : 2);
}

static void insert(choice *all, const candidate *c, const fft_wish *wish)
{
    size_t at = all->count;
    if (all->count == MOST_CANDIDATES)
        return;
    for (; at > 0 && total_s(&all->list[at - 1], wish) > total_s(c, wish); at--)
        all->list[at] = all->list[at - 1];
    all->list[at] = *c;
    all->count++;
}

static void consider(choice *all, const dev_info *info, const fft_wish *wish, candidate *c)
{
    char text[128];
    make_key(info, c);
    if (!wish->is_fresh && c->library.unusable[0] == '\0')
        recall(info, c, false);
    const char *why_not = reason_against(info, wish, c, text);
    if (why_not != NULL) {
        say_why_not(all, c, why_not);
        if (c->is_recorded && c->record.is_wrong)
            pass_over(all, c, why_not);
        return;
    }
    if (wish->is_steady)
        predict_usual(info, c);
    else
        predict(info, c);
    insert(all, c, wish);
}

/* A library that does all rows is told of all. */
static void set_size(candidate *c, const size_t n[3], const size_t filled[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const bool is_part = c->library.leaves_out && filled[axis] > 0 && filled[axis] < n[axis];
        c->shape.n[axis] = n[axis];
        c->shape.filled[axis] = is_part ? filled[axis] : n[axis];
    }
}

/* The likely fastest first. */
static void choose(choice *all, const dev_info *info, const fft_wish *wish)
{
    dev_fft_library library;
    *all = (choice){.count = 0};
    for (size_t i = 0; fft_library(info, i, &library); i++)
        for (int tables = 0; tables < (library.has_tables ? 2 : 1); tables++) {
            candidate c = {.number = i, .library = library, .shape = {.in_place = wish->in_place, .tables = tables}};
            if (wish->library != NULL && strcmp(wish->library, library.name) != 0)
                continue;
            if (wish->tables != FFT_TABLES_ANY && tables != (wish->tables == FFT_TABLES_YES))
                continue;
            set_size(&c, wish->n, wish->filled);
            consider(all, info, wish, &c);
        }
}

bool fft_predict(const dev_info *info, const fft_wish *wish, fft_prediction *prediction)
{
    choice all;
    choose(&all, info, wish);
    if (all.count == 0)
        return false;
    const candidate *c = &all.list[0];
    *prediction = (fft_prediction){
        .tables = c->shape.tables,
        .is_measured = c->is_recorded,
        .prepare_s = c->prepare_s,
        .transform_s = c->transform_s,
        .scratch_bytes = c->library.needs_no_area && wish->in_place ? 0 : fft_mesh_bytes(wish->n, wish->in_place)};
    snprintf(prediction->library, sizeof prediction->library, "%s", c->library.name);
    return true;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static void describe(const candidate *c, dev_fft *fft)
{
    memcpy(fft->n, c->shape.n, sizeof fft->n);
    memcpy(fft->filled, c->shape.filled, sizeof fft->filled);
    fft->in_place = c->shape.in_place;
    fft->tables = c->shape.tables;
    snprintf(fft->library, sizeof fft->library, "%s", c->library.name);
    snprintf(fft->version, sizeof fft->version, "%s", c->library.version);
}

static ley_status prepare(candidate *c, const void *kept, size_t size, dev_fft *fft, ley_error *error)
{
    const double start_s = ley_clock_s();
    dev *device = fft->device;
    const ley_status status = device->backend->fft_plan(device, c->number, &c->shape, kept, size, &fft->plan, error);
    if (status != LEY_OK) {
        fft->plan = NULL;
        return status;
    }
    fft->prepared_s = ley_clock_s() - start_s;
    fft->scratch_bytes = fft->plan->scratch_bytes;
    fft->zero_bytes = fft_mesh_bytes(fft->n, fft->in_place) / fft->n[2] * fft->plan->zero_planes;
    return LEY_OK;
}

/* A plan that has passed before; of a library of which plans cannot be kept, prepared anew. */
static ley_status take_recorded(candidate *c, dev_fft *fft, ley_error *error)
{
    const record *r = &c->record;
    recall(fft->device->info, c, true);
    ley_status status = prepare(c, c->kept, c->kept_size, fft, error);
    if (status == LEY_OK) {
        fft->from_cache = true;
        fft->error = r->error;
        fft->forward_s = r->forward_s;
        fft->back_s = r->back_s;
        fft->cold_s = r->cold_s;
    }
    if (status == LEY_OK && c->kept != NULL && !(r->warm_s > 0)) {
        c->record.warm_s = fft->prepared_s;
        store(fft->device->info, c, c->kept, c->kept_size);
    }
    free(c->kept);
    c->kept = NULL;
    return status;
}

static void remember(candidate *c, const dev_fft *fft, bool is_wrong)
{
    dev *device = fft->device;
    void *bytes = NULL;
    size_t size = 0;
    c->record = (record){.error = fft->error,
                         .forward_s = fft->forward_s,
                         .back_s = fft->back_s,
                         .cold_s = fft->prepared_s,
                         .is_wrong = is_wrong};
    if (is_wrong)
        c->record.error = 1;
    else if (device->backend->fft_keep(device, fft->plan, &bytes, &size, NULL) != LEY_OK)
        bytes = NULL;
    store(device->info, c, bytes, bytes != NULL ? size : 0);
    free(bytes);
    if (!is_wrong)
        learn(device->info, c);
}

void fft_learn(const dev_fft *fft, double forward_s, double back_s)
{
    const dev_info *info = fft->device->info;
    const double much = 1.5;
    candidate c = {.shape = {.in_place = fft->in_place, .tables = fft->tables}};
    if (!(forward_s > 0 && back_s > 0 && much * (forward_s + back_s) < fft->forward_s + fft->back_s))
        return;
    for (size_t i = 0; fft_library(info, i, &c.library); i++)
        if (strcmp(c.library.name, fft->library) == 0) {
            set_size(&c, fft->n, fft->filled);
            make_key(info, &c);
            recall(info, &c, true);
            c.record.forward_s = forward_s;
            c.record.back_s = back_s;
            if (c.is_recorded) {
                store(info, &c, c.kept, c.kept_size);
                learn(info, &c);
            }
            free(c.kept);
            return;
        }
}

/* One that is off by more than wished for, and right otherwise, stands in the cache as right. */
static ley_status make_new(candidate *c, const fft_wish *wish, dev_fft *fft, ley_error *error)
{
    const double start_s = ley_clock_s();
    ley_status status = prepare(c, NULL, 0, fft, error);
    if (status != LEY_OK)
        return status;
    const double plan_s = fft->prepared_s;
    status = fft_answer(fft, FFT_USUAL_ERROR, error);
    fft->cold_s = fft->prepared_s = ley_clock_s() - start_s;
    if (status == LEY_OK || status == LEY_ERROR_WRONG_RESULT)
        remember(c, fft, status != LEY_OK);
    if (status == LEY_OK && fft->error > most_error(wish))
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "its error is %.2g", fft->error);
    if (status == LEY_OK)
        log_say(
            LEY_LOG_NOTE,
            "%s: transform of %zu x %zu x %zu by %s%s prepared in %.3f s, tested in %.3f s: error %.2g, %.3g s there, "
            "%.3g s back",
            fft->device->info->name, fft->n[0], fft->n[1], fft->n[2], fft->library, fft->tables ? " with tables" : "",
            plan_s, fft->cold_s - plan_s, fft->error, fft->forward_s, fft->back_s);
    if (status != LEY_OK)
        fft_destroy(fft);
    return status;
}

static ley_status make_one(candidate *c, const fft_wish *wish, dev_fft *fft, ley_error *error)
{
    ley_error refused = {.status = LEY_OK};
    ley_status status = LEY_OK;
    describe(c, fft);
    if (c->is_recorded) {
        status = take_recorded(c, fft, &refused);
        if (status != LEY_OK && status != LEY_CANCELLED) {
            log_say(LEY_LOG_NOTE, "%s: %s does not take its plan from the cache: %s", fft->device->info->name,
                    fft->library, refused.message);
            cache_remove(&c->key);
        }
        ley_error_clear(&refused);
        if (status == LEY_OK)
            return LEY_OK;
        if (watch_ends())
            return ley_fail(error, LEY_CANCELLED, "cancelled");
    }
    return make_new(c, wish, fft, error);
}

static ley_status check_wish(const dev *device, const fft_wish *wish, ley_error *error)
{
    const uint64_t largest = device->info->max_allocation_bytes;
    double bytes = 2 * sizeof(float) * ((double)wish->n[0] / 2 + 1) * (double)wish->n[1] * (double)wish->n[2];
    if (wish->n[0] == 0 || wish->n[1] == 0 || wish->n[2] == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "a transform of %zu x %zu x %zu", wish->n[0], wish->n[1], wish->n[2]);
    if (!(bytes < (double)INT64_MAX) || (largest > 0 && bytes > (double)largest))
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "a transform of %zu x %zu x %zu takes %s, the device's largest buffer is %s", wish->n[0],
                        wish->n[1], wish->n[2], ley_size(bytes).s, ley_size((double)largest).s);
    return LEY_OK;
}

/* That the device has none of this name, or none at all; whose it is, and what to take. */
static void say_there_is_none(const dev_info *info, const char *name, char *why, size_t size)
{
    const char *backend = name != NULL ? usual[usual_of(name)].backend : NULL;
    char others[128] = "";
    size_t used = 0;
    dev_fft_library library;
    for (size_t i = 0; used < sizeof others && fft_library(info, i, &library); i++)
        used += (size_t)snprintf(others + used, sizeof others - used, "%s%s", i > 0 ? ", " : "", library.name);
    snprintf(why, size, "there is no %s for devices by %s%s%s%s%s%s", name != NULL ? name : "library",
             info->backend->name, others[0] != '\0' ? ": take " : "", others,
             backend != NULL ? (others[0] != '\0' ? ", or a device by " : ": take a device by ") : "",
             backend != NULL ? backend : "",
             backend != NULL ? " (leyden devices lists those that are usable, and says why others are not)" : "");
}

ley_status fft_create(dev *device, const fft_wish *wish, dev_fft *fft, ley_error *error)
{
    choice all;
    bool is_wrong = false;
    *fft = (dev_fft){.device = device};
    ley_status status = check_wish(device, wish, error);
    if (status != LEY_OK || kernels_noted() != NULL)
        return status;
    choose(&all, device->info, wish);
    for (size_t i = 0; i < all.count; i++) {
        ley_error own = {.status = LEY_OK};
        *fft = (dev_fft){.device = device};
        status = make_one(&all.list[i], wish, fft, &own);
        if (status == LEY_CANCELLED)
            ley_error_copy(error, &own);
        else if (status != LEY_OK) {
            say_why_not(&all, &all.list[i], own.message);
            pass_over(&all, &all.list[i], own.message);
            log_say(LEY_LOG_WARNING, "%s: no transform of %zu x %zu x %zu by %s: %s", device->info->name, wish->n[0],
                    wish->n[1], wish->n[2], all.list[i].library.name, own.message);
        }
        ley_error_clear(&own);
        is_wrong = is_wrong || status == LEY_ERROR_WRONG_RESULT;
        if (status == LEY_OK)
            memcpy(fft->passed_over, all.passed_over, sizeof fft->passed_over);
        if (status == LEY_OK || status == LEY_CANCELLED)
            return status;
    }
    *fft = (dev_fft){.device = device, .is_wrong = is_wrong};
    if (all.why_used == 0)
        say_there_is_none(device->info, wish->library, all.why, sizeof all.why);
    return ley_fail(error, LEY_ERROR_NO_DEVICE, "no transform of %zu x %zu x %zu: %s", wish->n[0], wish->n[1],
                    wish->n[2], all.why);
}

void fft_destroy(dev_fft *fft)
{
    if (fft->plan != NULL)
        fft->device->backend->fft_end(fft->device, fft->plan);
    *fft = (dev_fft){.device = fft->device};
}
