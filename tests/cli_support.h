/* Runs the command as its users do: a process of its own, its texts, its exit code. */
#ifndef LEY_TEST_CLI_SUPPORT_H
#define LEY_TEST_CLI_SUPPORT_H

#include "support.h"

#include <sys/types.h>

/* What a run left behind; the texts live until the next run ends. */
typedef struct cli_result {
    int code; /* exit code, or minus the signal that killed it */
    const char *out, *err;
    double seconds, cpu_s; /* of the clock, and of processors: the latter does not depend on what else runs */
} cli_result;

/* Runs the command built beside this test, in the scratch directory. The line is words between
 * blanks: first NAME=value for its environment, then its arguments; words "<FILE" and ">FILE" are
 * its standard input and output, and "" is an empty one. The build cache is "cache" in the folder
 * unless the line says otherwise; only the default drivers are loaded unless it says so. */
const cli_result *cli(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, which must end as cli_expect() has it. */
const cli_result *cli_run(int code, const char *out, const char *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* In the folder of the build, the command that is run; NULL: leyden. */
extern const char *cli_command;

/* The same in two steps, for runs that a signal shall meet. */
pid_t cli_start(const char *format, ...) __attribute__((format(printf, 1, 2)));
const cli_result *cli_wait(pid_t child);

/* The words of a line's beginning that put OpenCL with these faults before the real one
 * (faulty_opencl/); when they have struck, the file "struck" is there. */
const char *cli_faulty(const char *faults);

/* The same of files (faulty_files/). */
const char *cli_faulty_files(const char *faults);

/* Waits until a run has computed for so much processor time: it is in the midst of its work,
 * however busy the machine is. Fails the test when it ends before. Returns what it has used by then
 * with its children, those that build kernels. */
double cli_wait_for_work(pid_t child, double cpu_s);

/* ---- Runs that fail, and what is left of them ------------------------------------------------ */

/* Before a command: there is no device, neither by OpenCL nor a card by CUDA. */
#define CLI_NO_DEVICE "OCL_ICD_VENDORS=/nonexistent/ CUDA_VISIBLE_DEVICES=-1 "

/* Everything that is made goes to the first of these, temporary files to the second, so that what
 * is left behind shows. */
#define CLI_OUT "out"
#define CLI_TEMPORARY "tmp"

/* Makes both, and the molecule "ion.pqr": of the tests' group. */
int cli_prepare(void **state);

/* Empties both: before a test. */
int cli_empty(void **state);

void cli_assert_nothing_left(void);

typedef struct cli_failing {
    const char *line;
    int code;
    const char *says; /* on standard error */
} cli_failing;

/* Each line fails as it should, says so on standard error alone, after "leyden: ", and leaves no
 * file. */
void cli_check_failures(const cli_failing *cases, size_t count);
#define CLI_CHECK_FAILURES(cases) cli_check_failures(cases, sizeof(cases) / sizeof(cases)[0])

/* ---- Other programs, and files --------------------------------------------------------------- */

/* Runs Python on this script in the scratch directory, and fails the test where that fails; skips
 * it where there is no Python. */
const cli_result *cli_python(const char *script);

/* Fail the test, and show the texts, unless the last run ended with this code, said this (NULL:
 * nothing is asked). */
void cli_expect(int code, const char *out, const char *err);

/* Fails the test, and shows the text, unless this stands in it. */
void assert_has(const char *text, const char *what);

/* Fails the test unless the last run printed each of these, NULL behind the last. */
void cli_expect_all(const char *const *said);

/* Files by their names in the scratch directory. */
const char *cli_path(const char *name); /* lives until the eighth call from here */
void cli_write(const char *name, const void *bytes, size_t size);
void cli_write_text(const char *name, const char *text);
char *cli_read(const char *name, size_t *size); /* with a NUL behind it; the caller frees it */
void cli_assert_same_files(const char *a, const char *b);
bool cli_same_files(const char *a, const char *b);
ley_map *cli_read_map(const char *name);

/* Calls `visit` with the path of each file in a directory of the scratch directory; returns their
 * number. */
int cli_each_file(const char *name, void (*visit)(const char *path));

/* n random atoms in a PQR file. */
void cli_write_molecule(const char *name, size_t n, double high_A, unsigned seed);

#endif
