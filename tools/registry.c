#include "registry.h"

const subcommand *const command_table[] = {COMMANDS(LIST_COMMAND) NULL};

const method_row *const method_table[] = {METHODS(LIST_METHOD) NULL};

const bench_row *const other_benches[] = {BENCHES(LIST_BENCH) NULL};
