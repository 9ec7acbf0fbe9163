/* Diverging colours: red for negative, white at zero, blue for positive, as electrostatics draws
 * potentials. */
#ifndef LEYDEN_COLOURS_H
#define LEYDEN_COLOURS_H

#include <stdint.h>

/* Colours of the values from low to high, as 0x00RRGGBB. */
typedef struct colour_scale {
    uint32_t steps[1025]; /* from -limit to limit, the larger of |low| and |high| */
    double low, high;
} colour_scale;

/* Colours symmetric about zero: full strength at the limit, the same weaker one at equal distances
 * on either side. */
void colours_make(colour_scale *colours, double low, double high);

/* Values beyond low and high get their colours, not-a-numbers a grey of their own. */
uint32_t colours_at(const colour_scale *colours, double value);

#endif
