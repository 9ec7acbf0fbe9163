/* The second way of a potential (law.again), against which values
 * are held that the host has made by law/esp.h. */
#ifndef LEY_LAW_ESP_AGAIN_H
#define LEY_LAW_ESP_AGAIN_H

#include "law/law.h"

/* law.again, in atomic units. */
long double esp_again(const reference_terms *terms, const double point_A[3]);

#endif
