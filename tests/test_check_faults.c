/* Every check can fail, and fails on what it is for: faults of a driver that is PoCL but for one
 * thing (fake_icd/), each of which fails those checks that are meant for it and no others. And what
 * `leyden map` makes of such a device: a right map, from another one or by another way, or none.
 *
 * TEST_FAULT=TEXT: of those faults alone that have this text in them. */
#include "check_faults.h"
#include "cli_support.h"
#include "planted_faults.h"
#include "watch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TEXT = 4096 };

/* ---- Faults of kernels ----------------------------------------------------------------------- */

#define TABLE(name) \
    { \
        name, sizeof(name) / sizeof *(name) \
    }
static const struct {
    const fault *faults;
    size_t count;
} planted[] = {
    TABLE(dcs_faults),          TABLE(mdh_faults),         TABLE(cutoff_faults),
    TABLE(fine_faults),         TABLE(epilogue_faults),    TABLE(pair_faults),
    TABLE(binning_faults),      TABLE(spread_faults),      TABLE(long_faults),
    TABLE(lattice_faults),      TABLE(between_faults),     TABLE(transfer_faults),
    TABLE(by_plane_faults),     TABLE(gather_faults),      TABLE(list_faults),
    TABLE(row_faults),          TABLE(oblique_dcs_faults), TABLE(oblique_cutoff_faults),
    TABLE(oblique_fine_faults), TABLE(point_pairs_faults), TABLE(point_field_faults),
    TABLE(slope_faults),        TABLE(mdh_field_faults),
};

/* The first one of a kernel with these words whose text this source has: variants differ. */
static const fault *find_planted(const kernel_fault *k, int number)
{
    for (size_t t = 0; t < sizeof planted / sizeof *planted; t++)
        for (size_t i = 0; i < planted[t].count; i++) {
            const fault *f = &planted[t].faults[i];
            if (strcmp(f->file, k->kernel) == 0 && strcmp(f->what, k->what) == 0 && number-- == 0)
                return f;
        }
    return NULL;
}

/* A copy of `text` in which @ is true. */
static const char *in_force(const char *text)
{
    static char copy[MOST_TEXT];
    char *end = copy;
    for (; *text != '\0'; text++)
        if (*text == '@')
            end = stpcpy(end, "true");
        else
            *end++ = *text;
    *end = '\0';
    return copy;
}

/* ---- A run of the checks --------------------------------------------------------------------- */

static void set_fault(const char *icd, const char *from, const char *to)
{
    setenv("FAKE_ICD", icd, 1);
    setenv("FAKE_ICD_FROM", from != NULL ? from : "", 1);
    setenv("FAKE_ICD_TO", to != NULL ? to : "", 1);
}

/* Whether a list of words, or of beginnings that end with '*', has this one. */
static bool has_word(const char *list, const char *word)
{
    char words[MOST_TEXT], *rest = NULL;
    snprintf(words, sizeof words, "%s", list != NULL ? list : "");
    for (char *one = strtok_r(words, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest)) {
        const size_t length = strlen(one);
        if (one[length - 1] == '*' ? strncmp(word, one, length - 1) == 0 : strcmp(word, one) == 0)
            return true;
    }
    return false;
}

/* Adds "GROUP/NAME" of each line of the output that begins with FAIL to a list, once. */
static void collect_failed(const char *out, char failed[MOST_TEXT])
{
    failed[0] = '\0';
    for (const char *line = out; line != NULL && *line != '\0'; line = strchr(line, '\n') + 1) {
        char name[128];
        if (strncmp(line, "FAIL  ", 6) == 0 && sscanf(line + 6, "%127[^ \n]", name) == 1) {
            char *variant = strchr(strchr(name, '/') + 1, '/');
            if (variant != NULL)
                *variant = '\0';
            if (!has_word(failed, name))
                snprintf(failed + strlen(failed), MOST_TEXT - strlen(failed), " %s", name);
        }
        if (strchr(line, '\n') == NULL)
            break;
    }
}

/* Whether what failed is what should have. `is_whole`: all checks were made. */
static bool is_as_expected(const char *failed, const char *fails, const char *may)
{
    char words[MOST_TEXT], *rest = NULL;
    bool is_right = true;
    if (strcmp(fails, "*") == 0)
        return failed[0] != '\0';
    snprintf(words, sizeof words, "%s", fails);
    for (char *one = strtok_r(words, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest))
        is_right = is_right && has_word(failed, one);
    snprintf(words, sizeof words, "%s", failed);
    for (char *one = strtok_r(words, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest))
        is_right = is_right && (has_word(fails, one) || has_word(may, one));
    return is_right;
}

static bool is_full(void)
{
    return support_get_level() == SUPPORT_FULL;
}

/* At level full all checks, else those that are meant, and some that are not. */
static int run_fault(const char *icd, const char *from, const char *to, const char *fails, const char *may)
{
    static const char others[] = "builds/logs layout specials/infinities launches/order";
    const char *only = getenv("TEST_FAULT");
    char failed[MOST_TEXT];
    if (only != NULL && strstr(icd, only) == NULL && strstr(fails, only) == NULL)
        return 0;
    set_fault(icd, from, to);
    const cli_result *r =
        !is_full() && fails[0] != '*' ? cli("check --quick %s %s", fails, others) : cli("check --quick");
    collect_failed(r->out, failed);
    unsetenv("FAKE_ICD");
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%s: %s:%s (%.1f s)\n", icd, from != NULL ? from : "", failed, r->cpu_s);
    if (r->code == 5 && is_as_expected(failed, fails, may))
        return 0;
    print_error("%s, '%s' -> '%s': exit code %d, failed:%s; not: %s\n%s\n", icd, from != NULL ? from : "",
                to != NULL ? to : "", r->code, failed, fails, r->err);
    return 1;
}

/* Without a fault nothing fails; and the driver is PoCL. */
static void test_none(void **state)
{
    set_fault("fault=none", NULL, NULL);
    const cli_result *r =
        !is_full() ? cli("check --quick builds layout memory launches specials functions") : cli("check --quick");
    if (r->code != 0)
        fail_msg("%s%s", r->out, r->err);
    assert_non_null(strstr(r->out, "Portable Computing Language"));
    assert_non_null(strstr(r->out, " 0 failed"));
}

static void test_faults(void **state)
{
    int wrong = 0;
    for (size_t i = 0; i < CHECK_FAULTS; i++) {
        const check_fault *f = &check_faults[i];
        if (f->is_quick || !support_is_quick())
            wrong += run_fault(f->icd, f->from, f->to, f->fails, f->may);
    }
    assert_int_equal(wrong, 0);
}

/* Local memory that groups share strikes only where two of them run at the same time. */
static void test_shared_local_memory(void **state)
{
    int wrong = 1;
    for (int tries = 0; tries < 20 && wrong > 0; tries++)
        wrong = run_fault("fault=rewrite,kernel=local_words", "LEY_LOCAL_VARIABLE int sm_words[LEY_WORDS];",
                          "__global int *sm_words = gm_out + (LEY_GROUP_ID(0) < 3 ? LEY_GROUP_ID(0) : LEY_GROUPS(0) - "
                          "1) * LEY_WORDS;",
                          "memory/local", NULL);
    assert_int_equal(wrong, 0);
}

/* Of kernels with variants, the source of the default one has one of several texts. */
static void test_kernels(void **state)
{
    int wrong = 0;
    for (size_t i = 0; i < KERNEL_FAULTS; i++) {
        const kernel_fault *k = &kernel_faults[i];
        char icd[96], fails[96], from[MOST_TEXT];
        if (support_is_quick() && i > 1)
            continue;
        const bool has_vectors = strcmp(k->kernel, "anterpolate") == 0;
        const fault *f = find_planted(k, has_vectors ? 1 : 0);
        if (f == NULL)
            fail_msg("no fault '%s' of %s", k->what, k->kernel);
        snprintf(icd, sizeof icd, "fault=rewrite,kernel=%s", k->kernel);
        snprintf(fails, sizeof fails, "kernels/%s", k->kernel);
        snprintf(from, sizeof from, "%s", f->from);
        wrong += run_fault(icd, from, in_force(f->to), fails, k->may);
    }
    assert_int_equal(wrong, 0);
}

/* Every row of the table, and nothing that is no row, has a fault that makes it fail. */
static void test_table(void **state)
{
    int missing = 0;
    for (size_t i = 0; i < ley_check_row_count(); i++) {
        const ley_check_row *row = ley_check_row_get(i);
        char name[128];
        bool is_there = false;
        snprintf(name, sizeof name, "%s/%s", row->group, row->name);
        for (size_t k = 0; k < CHECK_FAULTS; k++)
            is_there = is_there || has_word(check_faults[k].fails, name);
        for (size_t k = 0; k < KERNEL_FAULTS; k++)
            is_there =
                is_there || (strcmp(row->group, "kernels") == 0 && strcmp(row->name, kernel_faults[k].kernel) == 0);
        if (!is_there) {
            print_error("no fault makes %s fail\n", name);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

/* ---- A device that hangs --------------------------------------------------------------------- */

/* In a process of its own: what a driver has of it stays. 0: the device was given up, what was left
 * was skipped, and the reason names the call. */
static int check_hanging(void)
{
    static const watch_patience short_one = {.open_s = 60,
                                             .build_s = 60,
                                             .close_s = 5,
                                             .first_s = 5,
                                             .work_s = 5,
                                             .factor = 1,
                                             .over_s = 1,
                                             .turn_s = 1,
                                             .choose_s = 0.1};
    const char *const names[] = {"launches"};
    ley_check *check = NULL;
    ley_error error = {0};
    watch_patience_replace(&short_one);
    set_fault("fault=hang,at=2", NULL, NULL);
    if (ley_check_run(&(ley_check_options){.quick = true, .names = names, .name_count = 1}, &check, &error) != LEY_OK)
        return 1;
    const ley_check_device *d = ley_check_get(check, 0);
    bool is_named = false;
    for (size_t i = 0; i < d->result_count; i++)
        is_named = is_named || (d->results[i].outcome == LEY_CHECK_FAILED &&
                                strstr(d->results[i].text, "the driver does not return (wait)") != NULL);
    if (d->outcomes[LEY_CHECK_FAILED] != 1 || d->outcomes[LEY_CHECK_SKIPPED] == 0 || !is_named)
        return 2;
    return ley_driver_is_stuck() ? 0 : 3;
}

/* A job of two devices, the first of which hangs, ends with a right map. */
static int map_hanging(void)
{
    static const watch_patience short_one = {.open_s = 60,
                                             .build_s = 60,
                                             .close_s = 5,
                                             .first_s = 8,
                                             .work_s = 8,
                                             .factor = 1,
                                             .over_s = 1,
                                             .turn_s = 1,
                                             .choose_s = 0.1};
    const ley_grid grid = {.n = {40, 40, 60}, .step_A = LEY_STEPS(0.5, 0.5, 0.5)};
    ley_error error = {0};
    ley_engine *engine = NULL;
    ley_map *map = NULL;
    ley_job *job = NULL;
    watch_patience_replace(&short_one);
    set_fault("fault=hang,device=0,at=3", NULL, NULL);
    ley_atoms *atoms = support_atoms(200, 0, 20, 1);
    support_options options = support_default_options();
    options.slab_planes = 4;
    if (ley_engine_create("all", &engine, &error) != LEY_OK || ley_map_create(&grid, &map, &error) != LEY_OK ||
        support_job_create(engine, atoms, map, &options, &job, &error) != LEY_OK)
        return 1;
    if (ley_job_run(job, &error) != LEY_OK) {
        print_error("%s\n", error.message);
        return 2;
    }
    ley_map *right = support_reference_map(atoms, &grid, options.r_min_A);
    return support_difference(map, right) < 1e-5 ? 0 : 3;
}

static int in_child(int (*run)(void))
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(run());
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_hanging(void **state)
{
    assert_int_equal(in_child(check_hanging), 0);
    setenv("POCL_DEVICES", "pthread pthread", 1);
    const int code = in_child(map_hanging);
    setenv("POCL_DEVICES", "pthread", 1);
    assert_int_equal(code, 0);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

/* What a user would ask. */
static const struct {
    const char *words;
    double most; /* relative RMS difference from a map of a device without faults */
} maps[] = {
    {"map m.pqr --spacing 1 --tol 1e-5", 2e-5},
    {"map m.pqr --spacing 1 --method cutoff --cutoff 8", 1e-5},
    {"map m.pqr --spacing 1 --method msm --tol 1e-3", 2e-3},
};
enum { MAPS = sizeof maps / sizeof *maps };

/* A processor that is the device shares the command's memory: a kernel that was built with another
 * one's options, and writes beyond its buffers, may end the process in the midst of the driver. */
typedef struct map_fault {
    const char *icd, *from, *to;
    bool may_crash;
} map_fault;

static const map_fault map_faults[] = {
    {"fault=garbage,device=0,at=4", NULL, NULL, false},
    {"fault=last-group,device=0", NULL, NULL, false},
    {"fault=memory,device=0,at=6", NULL, NULL, false},
    {"fault=stale-build,device=0", NULL, NULL, true},
    {"fault=stale-binary,device=0", NULL, NULL, true},
    {"fault=barriers,device=0", NULL, NULL, false},
    {"fault=lanes,device=0", NULL, NULL, false},
    {"fault=no-stamps,device=0", NULL, NULL, false},
    {"fault=shifted-stamps,device=0", NULL, NULL, false},
    {"fault=odd-offsets,device=0", NULL, NULL, false},
    {"fault=wide-copies,device=0", NULL, NULL, false},
    {"fault=dropped-waits,device=0", NULL, NULL, false},
    {"fault=native,device=0", NULL, NULL, false},
    {"fault=context,device=0", NULL, NULL, false},
    {"fault=rewrite,device=0,kernel=dcs", "gm_sum[at] = p->sum[k];", "gm_sum[at] = 1.0001f * p->sum[k];", false},
};
enum { MAP_FAULTS = sizeof map_faults / sizeof *map_faults };

/* A map of a driver with a fault, of the devices that are asked for: a right one, or none and a
 * clear word. */
static int judge_map(size_t which, const char *devices, const map_fault *f, const ley_map *right)
{
    const char *icd = f->icd;
    unlink(cli_path("wrong.dx"));
    const cli_result *r = cli("%s -o wrong.dx --device %s --quiet", maps[which].words, devices);
    if (f->may_crash && (r->code == -SIGSEGV || r->code == -SIGABRT || r->code == -SIGBUS))
        return access(cli_path("wrong.dx"), F_OK) == 0; /* what is there no more leaves no map */
    if (r->code != 0) {
        if ((r->code == 3 || r->code == 4 || r->code == 5) && strncmp(r->err, "leyden: ", 8) == 0)
            return 0;
        print_error("%s, %s, --device %s: exit code %d: %s\n", icd, maps[which].words, devices, r->code, r->err);
        return 1;
    }
    ley_map *map = cli_read_map("wrong.dx");
    const double difference = support_difference(map, right);
    ley_map_destroy(map);
    if (difference <= maps[which].most)
        return 0;
    print_error("%s, %s, --device %s: a map that is off by %g, without a word\n", icd, maps[which].words, devices,
                difference);
    return 1;
}

static void test_maps(void **state)
{
    int wrong = 0;
    setenv("POCL_DEVICES", "pthread pthread", 1);
    cli_write_molecule("m.pqr", 2000, 24, 7);
    for (size_t m = 0; m < (is_full() ? MAPS : 1); m++) {
        char name[32];
        set_fault("fault=none", NULL, NULL);
        snprintf(name, sizeof name, "right%zu.dx", m);
        cli_run(0, NULL, NULL, "%s -o %s --device 0 --quiet", maps[m].words, name);
        ley_map *right = cli_read_map(name);
        for (size_t i = 0; i < MAP_FAULTS; i++) {
            const char *only = getenv("TEST_FAULT");
            if ((!is_full() && i % 7 != 0) || (only != NULL && strstr(map_faults[i].icd, only) == NULL))
                continue;
            support_fresh_cache();
            set_fault(map_faults[i].icd, map_faults[i].from, map_faults[i].to);
            wrong += judge_map(m, "all", &map_faults[i], right);
            if (is_full())
                wrong += judge_map(m, "0", &map_faults[i], right);
        }
        ley_map_destroy(right);
    }
    setenv("POCL_DEVICES", "pthread", 1);
    unsetenv("FAKE_ICD");
    assert_int_equal(wrong, 0);
}

int main(void)
{
    char vendors[4096];
    const ssize_t length = readlink("/proc/self/exe", vendors, sizeof vendors - 64);
    if (length <= 0)
        return 1;
    vendors[length] = '\0';
    strcpy(strrchr(vendors, '/'), "/fake_icd/vendors/");
    setenv("OCL_ICD_VENDORS", vendors, 1);
    setenv("POCL_DEVICES", "pthread", 1);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    return RUN_TESTS(test_table, test_none, test_faults, test_shared_local_memory, test_kernels, test_hanging,
                     test_maps);
}
