#include "bench_values.h"

#include <math.h>

const char *bench_text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

double bench_number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

short_text bench_error_text(double error)
{
    return isfinite(error) ? text_of("%.2g", error) : text_of("-");
}

short_text bench_device_text(const json_t *device)
{
    const json_t *of = json_object_get(device, "device");
    return text_of("%.70s, %.10s, %.40s", bench_text_at(of, "name"), bench_text_at(of, "path"),
                   bench_text_at(of, "driver"));
}
