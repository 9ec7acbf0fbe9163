/* What a work-group of cutoff.cl does, on GPUs: it stages bins and atoms in local memory, then
 * each work-item sums them at its points. */
#ifndef LEY_CUTOFF_GROUP_H
#define LEY_CUTOFF_GROUP_H

#if LEY_FINE
/* Numbers of quanta, of 10 bits each. */
LEY_FN int quanta_of(scalar lost, scalar quantum)
{
    return (int)LEY_MAX(LEY_MIN(lost / quantum, (scalar)LEY_MOST_LOST), (scalar)-LEY_MOST_LOST) + LEY_MOST_LOST + 1;
}

/* What is lost where b is added to a. */
LEY_FN scalar lost_in(scalar a, scalar b)
{
    const scalar sum = a + b, added = sum - a;
    return (a - (sum - added)) + (b - added);
}

/* What a place lacks, in 30 bits, and back. */
LEY_FN int pack_lost(const points *p, const bins *b, LEY_REFERENCE(found) f, int slot)
{
    const atom a = b->slots[(size_t)f.bin * LEY_DEPTH + slot];
    const scalar unit = p->step.w;
    return quanta_of(lost_in(a.x * unit, f.x), p->low.w) | quanta_of(lost_in(a.y * unit, f.y), p->low.w) << 10 |
           quanta_of(lost_in(a.z * unit, f.z), p->low.w) << 20;
}

LEY_FN atom unpack_lost(const points *p, int packed)
{
    const int mask = 2 * LEY_MOST_LOST + 1, zero = LEY_MOST_LOST + 1;
    return LEY_ATOM(((packed & mask) - zero) * p->low.w, ((packed >> 10 & mask) - zero) * p->low.w,
                    ((packed >> 20 & mask) - zero) * p->low.w, 0);
}
#define NEAR_LOST(p, list, j) unpack_lost(p, (list)[j])
#else
#define NEAR_LOST(p, list, j) LEY_ATOM(0, 0, 0, 0)
#endif

/* An atom of a bin, in units from the region's first point, and how far it is from the region,
 * squared. */
LEY_FN scalar fetch(const points *p, const bins *b, LEY_REFERENCE(found) f, int slot, staged *s)
{
    const size_t at = (size_t)f.bin * LEY_DEPTH + slot;
    s->a = b->slots[at];
    s->a.x = s->a.x * p->step.w + f.x;
    s->a.y = s->a.y * p->step.w + f.y;
    s->a.z = s->a.z * p->step.w + f.z;
#if LEY_PAIR_MORE(LEY_PAIR) > 0
    s->more = b->more[at];
#endif
    return distance2(p, s->a.x, s->a.y, s->a.z, 0, 0, 0);
}

/* How many work-items before this one want something, and how many of all. */
#if LEY_VOTES(ITEMS)
LEY_FN int rank_of(bool wants, int item, LEY_LOCAL unsigned *sm_marks, int *count)
{
    const unsigned votes = ley_votes(wants);
    *count = LEY_COUNT_BITS(votes);
    return LEY_COUNT_BITS(votes & ((1u << item) - 1));
}
#else
LEY_FN int rank_of(bool wants, int item, LEY_LOCAL unsigned *sm_marks, int *count)
{
    int before = 0, all = 0;
    LEY_BARRIER_OF(ITEMS);
    ((LEY_LOCAL unsigned char *)sm_marks)[item] = wants;
    LEY_BARRIER_OF(ITEMS);
    for (int w = 0; w < ITEMS / 4; w++) { /* four marks at a time: the highest byte of the product is their sum */
        const unsigned marks = sm_marks[w], lower = (1u << 8 * (item % 4)) - 1;
        if (w == item / 4)
            before = all + (int)(((marks & lower) * 0x01010101u) >> 24);
        all += (int)((marks * 0x01010101u) >> 24);
    }
    *count = all;
    return before;
}
#endif

/* Where a vote is a round through local memory, a class more is one more of them, not more of
 * the program. */
#if LEY_VOTES(ITEMS)
#define UNROLL_VOTES UNROLL
#else
#define UNROLL_VOTES
#endif

/* Local memory: atoms within reach, as they were found and sorted; bins within reach; marks. */
typedef struct {
    staged tile[LEY_TILE];
#if LEY_PRUNE
    staged sorted[LEY_TILE];
    int class_of[LEY_TILE];
#if LEY_FINE
    int sorted_lost[LEY_TILE];
#endif
#endif
#if LEY_FINE
    int lost[LEY_TILE];
#endif
    found bins[2 * ITEMS];
    unsigned marks[ITEMS / 4];
} shared;

#if LEY_PAIR_CANCELS
/* Whether the bins close to the region leave a cell of it uncovered. A work-item's cell has as many
 * points as it computes, but side by side. */
LEY_FN bool is_fringe(const points *p, const bins *b, LEY_REFERENCE(found) home, int n_close, int item,
                      LEY_LOCAL shared *sm)
{
    const int at_a_time = 4; /* bins */
    scalar low_x = LANES_X * LEY_UX * p->step.x, high_x = low_x + (LEY_UX - 1) * p->step.x,
           low_y = LANES_Y * LEY_UY * p->step.y, high_y = low_y + (LEY_UY - 1) * p->step.y,
           low_z = LANES_Z * LEY_UZ * p->step.z, high_z = low_z + (LEY_UZ - 1) * p->step.z;
    scalar sum = 0;
#if LEY_OBLIQUE
    widen(LANES_X * LEY_UX, LEY_UX, p->shear.x, &low_y, &high_y);
    widen(LANES_X * LEY_UX, LEY_UX, p->shear.y, &low_z, &high_z);
    widen(LANES_Y * LEY_UY, LEY_UY, p->shear.z, &low_z, &high_z);
#endif
    int uncovered = ITEMS;
    for (int e = 0; e < n_close && uncovered > 0; e++) {
        found f;
        find(p, home, b->table[e], &f);
        for (int slot = 0; slot < LEY_DEPTH; slot++) {
            staged s;
            fetch(p, b, f, slot, &s);
            sum += worth(p, s.a.w, farther2(s.a.x, low_x, high_x) + farther2(s.a.y, low_y, high_y) +
                                       farther2(s.a.z, low_z, high_z));
        }
        if (e % at_a_time == at_a_time - 1 || e == n_close - 1)
            rank_of(sum < p->fringe.y, item, sm->marks, &uncovered);
    }
    LEY_BARRIER_OF(ITEMS);
    return uncovered > 0;
}
#endif

/* z - z_j of a column's points, and its square. */
LEY_FN void along_z(const points *p, scalar z, scalar *dz, scalar *dz2)
{
    FOR_Z(w) {
        dz[w] = p->z[w] - z;
        dz2[w] = dz[w] * dz[w];
    }
}

/* Adds an atom that is farther than r_min from the region, or where nothing is pruned any atom,
 * to the points of these halves. */
LEY_FN void add(points *p, LEY_REFERENCE(staged) s, int half_x, int half_y, int half_z)
{
    constants c;
    copy_constants(p, &c);
    const atom a = s.a;
    scalar dz[LEY_UZ], dz2[LEY_UZ];
#if !LEY_OBLIQUE
    along_z(p, a.z, dz, dz2);
#endif
    FOR_Y(v) FOR_X(u) if (IS_IN(half_x, u, LEY_UX) && IS_IN(half_y, v, LEY_UY)) {
#if LEY_OBLIQUE
        along_z(p, a.z - SHIFT_Z(p, u, v), dz, dz2);
#endif
        const scalar dx = p->x[u] - a.x, dy = p->y[v] - (a.y - SHIFT_Y(p, u)), dxy2 = dx * dx + dy * dy;
        FOR_Z(w) if (IS_IN(half_z, w, LEY_UZ)) {
            const int k = INDEX(u, v, w);
            const scalar r2 = LEY_PRUNE ? dxy2 + dz2[w] : ley_clamped_r2(dxy2 + dz2[w], p->limits.y);
            add_term(&p->sum[k], &c, r2, root_of(r2), a.w, SECOND(s), THIRD(s));
#if LEY_FIELD
            add_field(p->sum, k, POINTS, &c, r2, root_of(r2), dxy2 + dz2[w], a.w, SECOND(s), THIRD(s), dx, dy, dz[w]);
#endif
        }
    }
}

LEY_FN void add_list(points *p, LEY_LOCAL const staged *sm_list, int from, int to, int half_x, int half_y,
                     int half_z)
{
    for (int j = from; j < to; j++)
        add(p, sm_list[j], half_x, half_y, half_z);
}

#if LEY_PRUNE
/* How far x is from [low, high], squared. */
LEY_FN scalar beyond(scalar x, scalar low, scalar high)
{
    const scalar d = LEY_MAX(LEY_MAX(low - x, x - high), 0.0f);
    return d * d;
}

/* The half that an atom is in reach of, of which at least one is, for all distances across
 * (squared) below `limit`. */
LEY_FN int half_of(scalar lower2, scalar upper2, scalar limit)
{
    return lower2 < limit ? (upper2 < limit ? BOTH : LOWER) : UPPER;
}

LEY_FN int class_of(const points *p, atom a)
{
    const scalar middle_x = REGION_X / 2 * p->step.x, middle_y = REGION_Y / 2 * p->step.y,
                 middle_z = REGION_Z / 2 * p->step.z;
    const scalar x_low = beyond(a.x, 0, middle_x - p->step.x), x_high = beyond(a.x, middle_x, p->extent.x);
    const scalar y_low = beyond(a.y, LOWEST(p, y), SHIFTED_MOST(p, y, middle_y - p->step.y)),
                 y_high = beyond(a.y, ABOVE_LOWEST(p, y, middle_y), p->extent.y);
    const scalar z_low = beyond(a.z, LOWEST(p, z), SHIFTED_MOST(p, z, middle_z - p->step.z)),
                 z_high = beyond(a.z, ABOVE_LOWEST(p, z, middle_z), p->extent.z);
    const scalar x2 = LEY_MIN(x_low, x_high), y2 = beyond(a.y, LOWEST(p, y), p->extent.y), z2 = LEY_MIN(z_low, z_high);
    if (beyond(a.x, 0, p->extent.x) + y2 + beyond(a.z, LOWEST(p, z), p->extent.z) < p->limits.w)
        return NEAR;
    if (!LEY_SPLIT)
        return 0;
    return (LEY_SPLIT == 2 ? 9 * half_of(y_low, y_high, p->limits.x - x2 - z2) : 0) +
           3 * half_of(x_low, x_high, p->limits.x - y2 - z2) + half_of(z_low, z_high, p->limits.x - y2 - x2);
}

/* Sorts what is staged by class, in the order in which it was found; end[c] becomes where class
 * c ends. */
LEY_FN void sort(const points *p, LEY_LOCAL shared *sm, int count, int item, int *end)
{
    int n, before = 0;
    UNROLL_VOTES for (int c = 0; c < CLASSES; c++)
        end[c] = 0;
    for (int first = 0; first < count; first += ITEMS) {
        int own = -1;
        if (first + item < count)
            sm->class_of[first + item] = own = class_of(p, sm->tile[first + item].a);
        UNROLL_VOTES for (int c = 0; c < CLASSES; c++) {
            rank_of(own == c, item, sm->marks, &n);
            end[c] += n;
        }
    }
    UNROLL_VOTES for (int c = 0; c < CLASSES; c++) {
        n = end[c];
        end[c] = before;
        before += n;
    }
    for (int first = 0; first < count; first += ITEMS) {
        const int own = first + item < count ? sm->class_of[first + item] : -1;
        int at = 0;
        UNROLL_VOTES for (int c = 0; c < CLASSES; c++) {
            const int rank = rank_of(own == c, item, sm->marks, &n);
            at = own == c ? end[c] + rank : at;
            end[c] += n;
        }
        if (own >= 0) {
            sm->sorted[at] = sm->tile[first + item];
#if LEY_FINE
            sm->sorted_lost[at] = sm->lost[first + item];
#endif
        }
    }
    LEY_BARRIER_OF(ITEMS);
}
#endif

/* Sums what is staged. */
LEY_FN void sum_tile(points *p, LEY_LOCAL shared *sm, int count, int item)
{
    int end[CLASSES], from = 0;
    LEY_BARRIER_OF(ITEMS);
#if LEY_PRUNE
    sort(p, sm, count, item, end);
    LEY_LOCAL const staged *sm_list = sm->sorted;
#if LEY_FINE
    LEY_LOCAL const int *sm_lost = sm->sorted_lost;
#endif
#else
#if LEY_FINE
    LEY_LOCAL const int *sm_lost = sm->lost;
#endif
    end[0] = p->limits.w < p->limits.x ? count : 0;
    end[NEAR] = count;
    LEY_LOCAL const staged *sm_list = sm->tile;
#endif
    UNROLL for (int c = 0; c < CLASSES; c++) {
        if (c == NEAR)
            for (int j = from; j < end[c]; j++)
                add_near(p, sm_list[j], NEAR_LOST(p, sm_lost, j));
        else
            add_list(p, sm_list, from, end[c], c / 3 % 3, c / 9, c % 3);
        from = end[c];
    }
    UNROLL for (int k = 0; k < SUMS; k++)
        end_tile(p, k);
    LEY_BARRIER_OF(ITEMS);
}

/* Stages the atoms of the bins found, and sums when the tile is full, or at last. */
LEY_FN void stage(points *p, const bins *b, LEY_LOCAL shared *sm, int item, int n_bins, bool last, int *staged_atoms)
{
    LEY_BARRIER_OF(ITEMS);
    for (int first = 0;; first += ITEMS) { /* each step stands here once: what compilers get is large enough */
        const int i = first + item;
        const bool through = first >= n_bins * LEY_DEPTH;
        int count;
        staged s LEY_CLEARED;
        if (through ? last : *staged_atoms + ITEMS > LEY_TILE) {
            sum_tile(p, sm, *staged_atoms, item);
            *staged_atoms = 0;
        }
        if (through)
            break;
        bool wants = i < n_bins * LEY_DEPTH;
        if (wants) {
            const scalar d2 = fetch(p, b, sm->bins[i / LEY_DEPTH], i % LEY_DEPTH, &s);
            wants = !LEY_PRUNE || d2 < p->limits.x;
        }
        const int rank = rank_of(wants, item, sm->marks, &count);
        if (wants) {
            sm->tile[*staged_atoms + rank] = s;
#if LEY_FINE
            sm->lost[*staged_atoms + rank] = pack_lost(p, b, sm->bins[i / LEY_DEPTH], i % LEY_DEPTH);
#endif
        }
        *staged_atoms += count;
    }
    LEY_BARRIER_OF(ITEMS);
}

/* Goes through the table; after each step through the bins in which those found go on, one after
 * the other. */
LEY_FN void sum_neighbourhood(points *p, const bins *b, found home, int item, LEY_LOCAL shared *sm)
{
    int n_bins = 0, staged_atoms = 0, first = 0, count = 0, next = 0, end = 0;
    found f LEY_CLEARED;
    for (bool last = false; !last;) {
        bool wants = false;
        if (b->has_extra && count > 0) {
            wants = next < end;
            f.bin = next++;
        } else {
            last = first >= b->n_table;
            next = end = 0;
            if (first + item < b->n_table) {
                wants = find(p, home, b->table[first + item], &f);
                if (wants && b->has_extra) {
                    next = b->extra[f.bin];
                    end = b->extra[f.bin + 1];
                }
            }
            first += ITEMS;
        }
        const int rank = rank_of(wants, item, sm->marks, &count);
        if (wants)
            sm->bins[n_bins + rank] = f;
        n_bins += count;
        if (n_bins > ITEMS || last) {
            stage(p, b, sm, item, n_bins, last, &staged_atoms);
            n_bins = 0;
        }
    }
}

/* Where a work-item's values go, from the lowest corner of its group's. */
LEY_FN void put_values(LEY_GLOBAL float *gm_point, size_t row, size_t plane, real value)
{
    (void)plane;
    gm_point[LEY_LOCAL_ID(1) * row + LEY_LOCAL_ID(0)] = value;
}

#endif
