/* All tables of parameters: what all jobs have, and methods' own. */
#include "ions/parameters.h"
#include "fit/problem.h"
#include "law/energy_options.h"
#include "plan/request.h"
#include "schedule/job.h"
#include "surface/surface.h"
#include "target/grid_choice.h"

#include <string.h>

const ley_parameter_table *ley_parameter_table_get(size_t i)
{
    static const ley_parameter_table *const of_all[] = {&request_parameters, &grid_parameters, &run_parameters,
                                                        &surface_parameters, &ions_parameters, &energy_parameters,
                                                        &density_parameters};
    enum { COUNT = sizeof of_all / sizeof *of_all };
    if (i < COUNT)
        return of_all[i];
    i -= COUNT;
    for (size_t k = 0; method_registry[k] != NULL; k++)
        if (method_registry[k]->parameters != NULL && i-- == 0)
            return method_registry[k]->parameters;
    return NULL;
}

const ley_parameter *ley_parameter_find(const char *of, const char *name)
{
    const ley_parameter_table *table;
    for (size_t i = 0; (table = ley_parameter_table_get(i)) != NULL; i++)
        for (size_t k = 0; strcmp(table->of, of) == 0 && k < table->count; k++)
            if (strcmp(table->rows[k].name, name) == 0)
                return &table->rows[k];
    return NULL;
}

const char *ley_parameter_choice(const char *of, const char *name, int value)
{
    const ley_parameter *row = ley_parameter_find(of, name);
    for (int i = 0; row != NULL && row->choices != NULL && row->choices[i] != NULL; i++)
        if (i == value)
            return row->choices[i];
    return NULL;
}
