/* tools/registry.c with a row more in each table: that of the sub-command, and that of the
 * method. */
#include "../../tools/registry.h"

DECLARE_COMMAND(squares)
DECLARE_METHOD(squares)

const subcommand *const command_table[] = {COMMANDS(LIST_COMMAND) LIST_COMMAND(squares) NULL};

const method_row *const method_table[] = {METHODS(LIST_METHOD) LIST_METHOD(squares) NULL};

const bench_row *const other_benches[] = {BENCHES(LIST_BENCH) NULL};
