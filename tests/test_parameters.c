/* The tables of parameters: rows are whole, defaults are in their ranges, structs of options begin
 * with them and are checked by them; and the command has an option for each row, with its range,
 * and takes the names of the release before. */
#include "cli_support.h"
#include "core/options.h"
#include "core/parameters.h"
#include "law/solvent.h"
#include "methods/registry.h"
#include "support.h"

#include <ctype.h>

/* A struct of options of any type. */
typedef struct any_options {
    _Alignas(8) char bytes[4096];
} any_options;

static bool is_number(const ley_parameter *p)
{
    return p->type == LEY_PARAMETER_REAL || p->type == LEY_PARAMETER_INTEGER;
}

static size_t count_of(const ley_parameter *p)
{
    return p->count > 1 ? (size_t)p->count : 1;
}

static void put(const ley_parameter *p, size_t k, double value, any_options *to)
{
    char *at = to->bytes + p->offset + k * p->bytes;
    const int64_t whole = (int64_t)value;
    const int32_t small = (int32_t)whole;
    if (p->type == LEY_PARAMETER_REAL)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, p->bytes == sizeof small ? (const void *)&small : &whole, p->bytes);
}

static void test_rows_are_whole(void **state)
{
    const ley_parameter_table *table;
    size_t rows = 0;
    for (size_t i = 0; (table = ley_parameter_table_get(i)) != NULL; i++)
        for (size_t k = 0; k < table->count; k++, rows++) {
            const ley_parameter *p = &table->rows[k];
            assert_int_equal(strspn(p->name, "abcdefghijklmnopqrstuvwxyz_"), strlen(p->name));
            assert_ptr_equal(ley_parameter_find(table->of, p->name), p);
            assert_true(p->sentence != NULL && p->sentence[0] != '\0');
            assert_true(p->type == LEY_PARAMETER_FLAG || p->value != NULL || p->unit != NULL);
            assert_true((p->field == NULL) == (p->type == LEY_PARAMETER_OTHER));
            assert_true(p->offset + p->bytes * count_of(p) <= table->size);
            assert_true(p->type != LEY_PARAMETER_CHOICE || p->choices != NULL);
            for (size_t n = 0; is_number(p) && p->unset == NULL && n < count_of(p); n++)
                assert_true(p->default_value[n] >= p->low && p->default_value[n] <= p->high);
        }
    assert_true(rows > 40);
    assert_null(ley_parameter_find("ley_long_range", "spacing"));
    assert_string_equal(ley_parameter_choice("ley_run_options", "sum", LEY_SUM_DOUBLE), "double");
    assert_null(ley_parameter_choice("ley_run_options", "sum", LEY_SUM_COUNT));
}

static void test_structs_begin_with_the_defaults(void **state)
{
    ley_grid_options grid;
    ley_solvent solvent;
    ley_long_range range = support_default_long_range();
    ley_short_range pairs = support_default_short_range();
    ley_run_options run = support_default_run_options();
    ley_grid_options_default(&grid);
    ley_solvent_default(&solvent);
    assert_true(range.size == sizeof range && range.dielectric == 1 && range.temperature_K == 298.15);
    assert_true(range.cutoff_A == 12 && range.spacing_A == 2 && range.splitting == LEY_SPLITTING_TAYLOR4);
    assert_true(range.window == LEY_WINDOW_NODAL7 && range.levels == 0 && range.fft == NULL);
    assert_true(pairs.pair == LEY_PAIR_TAYLOR2 && pairs.steepness == 12 && pairs.probe_radius_A == 1.7);
    assert_true(pairs.probe_depth_kcal_mol == 0.1 && pairs.bin_depth == 8 && pairs.bin_fill == 0.75);
    assert_true(run.size == sizeof run && run.math == LEY_MATH_AUTO && run.sum == LEY_SUM_FLOAT);
    assert_true(run.verify_points == 1000 && run.slab_planes == 0 && run.variant == NULL);
    assert_true(grid.spacing_A[2] == 0.5 && grid.n[1] == 1 && grid.padding_A == 10 && grid.given == 0);
    assert_true(solvent.dielectric == 78.54 && solvent.solute_dielectric == 2 && solvent.ion_count == 0);
}

/* Of every number the bounds are allowed, and what is beyond is refused by its name. */
static void test_ranges_are_checked(void **state)
{
    const ley_parameter_table *table;
    for (size_t i = 0; (table = ley_parameter_table_get(i)) != NULL; i++)
        for (size_t k = 0; k < table->count; k++) {
            const ley_parameter *p = &table->rows[k];
            for (size_t n = 0; is_number(p) && n < count_of(p); n++) {
                any_options options;
                ley_error error = {0};
                parameters_default(table, &options);
                for (size_t all = 0; all < count_of(p); all++)
                    put(p, all, isfinite(p->high) ? p->high : 1, &options);
                assert_int_equal(parameter_check(p, &options, &error), LEY_OK);
                put(p, n, p->above_low ? p->low : p->low - 1, &options);
                assert_error(parameter_check(p, &options, &error), LEY_ERROR_USAGE, p->name);
                ley_error_clear(&error);
                if (isfinite(p->high)) {
                    put(p, n, 2 * p->high, &options);
                    assert_int_equal(parameter_check(p, &options, NULL), LEY_ERROR_USAGE);
                }
                if (p->type == LEY_PARAMETER_REAL) {
                    put(p, n, NAN, &options);
                    assert_int_equal(parameter_check(p, &options, NULL), LEY_ERROR_USAGE);
                }
            }
        }
    ley_long_range range = support_default_long_range();
    range.units = LEY_UNITS_COUNT;
    assert_int_equal(options_check_medium(&range, NULL), LEY_ERROR_USAGE);
}

/* ---- In the command -------------------------------------------------------------------------- */

typedef struct option_name {
    char s[64];
} option_name;

static option_name option_of(const char *name)
{
    option_name option;
    snprintf(option.s, sizeof option.s, "--%s", name);
    for (char *c = option.s; *c != '\0'; c++)
        *c = *c == '_' ? '-' : *c;
    return option;
}

static const char *command_of(const ley_parameter_table *table)
{
    if (strcmp(table->of, "ley_surface_options") == 0)
        return "surface";
    if (strcmp(table->of, "ley_density_options") == 0)
        return "fit-score";
    if (strcmp(table->of, "ley_ions_options") == 0)
        return "ions";
    if (strcmp(table->of, "ley_wavefunction_options") == 0)
        return "orbital";
    return strcmp(table->of, "ley_solvent") == 0 ? "boundary" : "map";
}

/* Energies are of Python's command, which test_energy.py holds against their table. */
static void test_the_command_has_them(void **state)
{
    const ley_parameter_table *table;
    for (size_t i = 0; (table = ley_parameter_table_get(i)) != NULL; i++)
        for (size_t k = 0; k < table->count && strcmp(table->of, "ley_energy_options") != 0; k++) {
            const ley_parameter *p = &table->rows[k];
            const char *command = command_of(table);
            const option_name name = option_of(p->name);
            const char *option = name.s;
            char said[128], value[64] = "";
            snprintf(said, sizeof said, " %s", option);
            const char *at = strstr(cli("help %s all", command)->out, said);
            while (at != NULL && !isspace((unsigned char)at[strlen(said)]))
                at = strstr(at + 1, said);
            assert_non_null(at);
            for (size_t n = 0; is_number(p) && n < count_of(p); n++)
                snprintf(value + strlen(value), sizeof value - strlen(value), "%s%.17g", n > 0 ? "," : "",
                         p->above_low ? p->low : p->low - 1);
            snprintf(said, sizeof said, "%s: %.17g is out of range", option, p->above_low ? p->low : p->low - 1);
            cli("%s ion.pqr -o out/a.dx %s=%s", command, option, is_number(p) ? value : "");
            cli_expect(1, NULL, is_number(p) && strlen(value) < 48 ? said : option);
            for (size_t n = 0; p->former != NULL && p->former[n] != NULL; n++) {
                snprintf(said, sizeof said, " is called %s now: the next release takes that word only", option);
                cli_run(1, NULL, said, "%s ion.pqr -o out/a.dx %s=", command, option_of(p->former[n]).s);
            }
        }
}

/* What is needed every day fits a screen, and no line is wider. */
static void test_the_short_help_fits_a_screen(void **state)
{
    static const char *const commands[] = {"map", "boundary", "apbs"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        size_t lines = 0;
        const char *help = cli("%s --help", commands[i])->out;
        for (const char *at = help, *next; (next = strchr(at, '\n')) != NULL; at = next + 1, lines++)
            assert_true(next - at <= 100);
        assert_true(lines <= 50);
        assert_non_null(strstr(help, " --help-all' has all details"));
        assert_null(strstr(help, "For experts"));
        assert_non_null(strstr(cli("%s --help-all", commands[i])->out, "For experts"));
        char *said = strdup(cli("help %s all", commands[i])->out); /* the next command's takes its place */
        assert_string_equal(said, cli("%s -h all", commands[i])->out);
        free(said);
    }
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = cli_prepare), test_rows_are_whole, test_structs_begin_with_the_defaults,
                     test_ranges_are_checked, test_the_command_has_them, test_the_short_help_fits_a_screen);
}
