#include "schedule/stage.h"

stage_product *stage_products_find(stage_products *products, const product *what)
{
    for (size_t i = 0; i < products->count; i++)
        if (products->list[i].what == what)
            return &products->list[i];
    return NULL;
}

void stage_make(const stage_place *place, const product *what, void *made)
{
    stage_products *p = place->products;
    stage_product *m = stage_products_find(p, what);
    if (m == NULL && p->count < STAGE_MOST_PRODUCTS)
        m = &p->list[p->count++];
    if (m != NULL)
        *m = (stage_product){.what = what, .made = made};
}

void *stage_get(const stage_place *place, const product *what)
{
    const stage_product *m = stage_products_find(place->products, what);
    return m != NULL ? m->made : NULL;
}
