#include "apbs_run.h"

#include "support.h"

#include <unistd.h>

const char apbs_run_one_pqr[] = "ATOM      1  N   ASY     1       0.331   0.935  -1.837 -0.470 1.850\n"
                                "ATOM      2  HN  ASY     1       1.159   0.151  -2.326  0.310 1.000\n"
                                "ATOM      3  CA  ASY     1       0.149   0.619  -1.067  0.570 2.275\n";

void apbs_run_write_file(const char *name, const char *text, size_t size)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void apbs_run_write_text(const char *name, const char *text)
{
    apbs_run_write_file(name, text, strlen(text));
}

char *apbs_run_read_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 21);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 21) - 1, file) > 0);
    fclose(file);
    return text;
}

ley_apbs_input *apbs_run_read_fine(const char *name)
{
    ley_apbs_input *input = NULL;
    ley_error error = {0};
    ley_status status = ley_apbs_input_read(name, &input, &error);
    if (status != LEY_OK)
        fail_msg("%s", error.message);
    return input;
}

ley_apbs_input *apbs_run_read_text(const char *text)
{
    apbs_run_write_text("in.in", text);
    return apbs_run_read_fine("in.in");
}

bool apbs_run_is_there(void)
{
    static int known = -1;
    if (known < 0)
        known = system("command -v apbs >/dev/null 2>&1") == 0;
    return known != 0;
}

/* Everything that `apbs name` prints; from malloc. */
char *apbs_run(const char *name)
{
    char command[512];
    snprintf(command, sizeof command, "timeout 900 apbs %s 2>&1", name);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t room = 1 << 22, n = 0, got;
    char *text = malloc(room);
    assert_non_null(text);
    while ((got = fread(text + n, 1, room - 1 - n, pipe)) > 0)
        n += got;
    text[n] = '\0';
    pclose(pipe);
    return text;
}

int apbs_run_begin(void **state)
{
    if (chdir(support_directory()) != 0)
        return -1;
    FILE *file = fopen("one.pqr", "wb");
    return file != NULL && fputs(apbs_run_one_pqr, file) >= 0 ? fclose(file) : -1;
}
