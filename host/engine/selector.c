#include "engine/selector.h"

#include "engine/discovery.h"
#include "error.h"
#include "leyden.h"
#include "ranks.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Whether a platform's remark, "CUDA: no device", may be why there is none of this word: "cuda:0",
 * "cuda", a part of the platform's name; of any platform where the word is the kind of a device. */
static bool explains(const char *note, const char *word)
{
    const char *colon = strchr(note, ':'), *end = strchr(word, ':');
    char name[DEV_TEXT], wanted[DEV_TEXT];
    if (strcasecmp(word, "gpu") == 0 || strcasecmp(word, "cpu") == 0)
        return true;
    snprintf(name, sizeof name, "%.*s", colon != NULL ? (int)(colon - note) : 0, note);
    snprintf(wanted, sizeof wanted, "%.*s", end != NULL ? (int)(end - word) : DEV_TEXT - 1, word);
    return wanted[0] != '\0' && strcasestr(name, wanted) != NULL;
}

/* "" when there are none; else the platforms' remarks in brackets, for messages: those that explain
 * the word, or all of them (NULL). */
static void remarks(const dev_list *list, const char *word, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->note_count && used < size; i++)
        if (word == NULL || explains(list->notes[i], word))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used == 0 ? " (" : "; ", list->notes[i]);
    if (used != 0 && used < size)
        snprintf(text + used, size - used, ")");
}

static bool is_index(const char *word, size_t *index)
{
    char *end;
    unsigned long value = strtoul(word, &end, 10);
    *index = value;
    return word[0] >= '0' && word[0] <= '9' && *end == '\0';
}

/* "cuda:1": only that path. Returns what is behind the colon, or the word itself; false when the
 * path is another one. */
static bool on_path(const dev_info *info, const char **word)
{
    const size_t length = strlen(info->backend->name);
    const char *colon = strchr(*word, ':');
    if (colon == NULL)
        return true;
    if ((size_t)(colon - *word) != length || strncasecmp(*word, info->backend->name, length) != 0)
        return false;
    *word = colon + 1;
    return true;
}

/* "opencl", "cuda": names of paths, whatever platforms may call themselves. */
static bool is_path(const dev_list *list, const char *word)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcasecmp(word, list->infos[i].backend->name) == 0)
            return true;
    return false;
}

/* Behind the name of a path devices are counted among those of that path. */
static size_t number_on_path(const dev_list *list, size_t device)
{
    size_t number = 0;
    for (size_t i = 0; i < device; i++)
        number += list->infos[i].backend == list->infos[device].backend;
    return number;
}

void selector_of(const dev_list *list, size_t device, char *text, size_t size)
{
    snprintf(text, size, "%s:%zu", list->infos[device].backend->name, number_on_path(list, device));
}

static bool matches(const dev_list *list, size_t device, const char *word)
{
    const dev_info *info = &list->infos[device];
    const bool has_path = strchr(word, ':') != NULL;
    size_t index;
    if (!on_path(info, &word))
        return false;
    if (is_path(list, word))
        return strcasecmp(word, info->backend->name) == 0;
    if (is_index(word, &index))
        return index == (has_path ? number_on_path(list, device) : (size_t)info->index);
    if (strcasecmp(word, "all") == 0)
        return true;
    if (strcasecmp(word, "cpu") == 0)
        return info->device_class == DEV_CPU;
    if (strcasecmp(word, "gpu") == 0)
        return info->device_class == DEV_GPU;
    return strcasestr(info->name, word) != NULL || strcasestr(info->platform, word) != NULL ||
           strcasestr(info->vendor, word) != NULL || strcasestr(info->driver, word) != NULL ||
           strcasestr(info->version, word) != NULL;
}

/* A card is used once, by the first of its paths that can be used. */
static void add_once(const dev_list *list, size_t i, size_t *chosen, size_t *count)
{
    for (size_t k = 0; k < *count; k++)
        if (list->infos[chosen[k]].index == list->infos[i].index) {
            if (list->infos[chosen[k]].unusable[0] != '\0')
                chosen[k] = i;
            return;
        }
    chosen[(*count)++] = i;
}

static ley_status fail_unknown(const dev_list *list, const char *word, ley_error *error)
{
    char text[512];
    remarks(list, word, text, sizeof text);
    return ley_fail(error, LEY_ERROR_USAGE, "no device matches \"%s\"%s; to see which there are, type: leyden devices",
                    word, text);
}

static ley_status choose_words(const dev_list *list, char *words, size_t *chosen, size_t *count, ley_error *error)
{
    char *rest = NULL;
    size_t word_count = 0;
    for (char *word = strtok_r(words, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        bool found = false;
        word += strspn(word, " ");
        for (size_t length = strlen(word); length > 0 && word[length - 1] == ' '; length--)
            word[length - 1] = '\0';
        if (word[0] == '\0')
            return ley_fail(error, LEY_ERROR_USAGE, "the list of devices has an empty word");
        if (strcasecmp(word, "host") == 0)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "\"host\" is no device: jobs take it, by itself, and then the host does them alone; "
                            "\"cpu\" names the processor as a device");
        word_count++;
        for (size_t i = 0; i < list->count; i++)
            if (matches(list, i, word)) {
                add_once(list, i, chosen, count);
                found = true;
            }
        if (!found)
            return fail_unknown(list, word, error);
    }
    return word_count > 0 ? LEY_OK : ley_fail(error, LEY_ERROR_USAGE, "the list of devices is empty");
}

/* Which of the cards this one is, counted from 0 and each once. */
static size_t card_number(const dev_list *list, const size_t *chosen, size_t k)
{
    size_t number = 0;
    for (size_t i = 0; i < k; i++) {
        bool is_new = list->infos[chosen[i]].device_class == DEV_GPU;
        if (is_new && list->infos[chosen[i]].index == list->infos[chosen[k]].index)
            return card_number(list, chosen, i);
        for (size_t j = 0; j < i && is_new; j++)
            is_new = list->infos[chosen[j]].index != list->infos[chosen[i]].index;
        number += is_new;
    }
    return number;
}

/* Cards are dealt to the ranks of this machine; processors each rank has for its own. */
static void deal_cards(const dev_list *list, size_t *chosen, size_t *count)
{
    const size_t ranks = (size_t)ranks_local_count(), own = (size_t)ranks_local();
    size_t cards = 0, number[64], kept = 0;
    if (ranks == 1 || *count > sizeof number / sizeof *number)
        return;
    for (size_t k = 0; k < *count; k++) {
        number[k] = card_number(list, chosen, k);
        if (list->infos[chosen[k]].device_class == DEV_GPU && number[k] >= cards)
            cards = number[k] + 1;
    }
    for (size_t k = 0; k < *count; k++)
        if (list->infos[chosen[k]].device_class != DEV_GPU ||
            (cards < ranks ? number[k] == own % cards : number[k] % ranks == own))
            chosen[kept++] = chosen[k];
    *count = kept;
}

/* A device that is not known yet may be faster than the fastest that is, unless it is a processor,
 * whose cores that one needs, or another path to the same card. */
static bool may_join(const dev_list *list, size_t device, size_t fastest)
{
    return list->infos[device].device_class != DEV_CPU && list->infos[device].index != list->infos[fastest].index;
}

/* What a device is put in order by: the first that is known; those that may join it; the others; at
 * last those that cannot be measured. */
static double rank_of(const dev_list *list, size_t device, double speed, size_t fastest, double largest)
{
    if (speed == DISCOVERY_LATE)
        return device != fastest && may_join(list, device, fastest) ? largest : DISCOVERY_NONE + DBL_MIN;
    return device == fastest ? 2 * largest : speed;
}

/* About how many values a device computes at once, times its clock, by what its driver says: enough
 * to tell a card from the processor beside it. 0: it says too little. */
static double width_MHz(const dev_info *info)
{
    const int lanes = info->device_class == DEV_GPU ? 64 : 16;
    return (double)info->compute_units * lanes * info->clock_MHz;
}

/* The card's vendor has a path of its own to it. Rates of both are within a few per cent of each
 * other; transforms of the vendor's need not be compiled, which takes two seconds the first
 * time. */
static bool is_second_path(const dev_list *list, const size_t *chosen, size_t count, size_t device)
{
    if (list->infos[device].backend->is_vendors)
        return false;
    for (size_t k = 0; k < count; k++) {
        const dev_info *info = &list->infos[chosen[k]];
        if (info->backend->is_vendors && info->index == list->infos[device].index)
            return true;
    }
    return false;
}

/* Moves to the end what is not worth being measured, which takes a second or more the first time:
 * processors where some card is clearly faster, and second paths to cards. They are used where the
 * others do not work. Returns how many are left. */
static size_t leave_out(const dev_list *list, size_t *chosen, size_t count)
{
    const double clearly = 4;
    double widest_MHz = 0;
    size_t left = 0;
    for (size_t k = 0; k < count; k++)
        if (list->infos[chosen[k]].device_class == DEV_GPU)
            widest_MHz = fmax(widest_MHz, width_MHz(&list->infos[chosen[k]]));
    for (size_t k = 0; k < count; k++) {
        const size_t device = chosen[k];
        const dev_info *info = &list->infos[device];
        const bool is_slow =
            info->device_class == DEV_CPU && width_MHz(info) > 0 && widest_MHz > clearly * width_MHz(info);
        if (is_slow || is_second_path(list, chosen, count, device))
            continue;
        memmove(&chosen[left + 1], &chosen[left], (k - left) * sizeof *chosen);
        chosen[left++] = device;
    }
    return left;
}

/* How many devices behind the first are to join it. */
static size_t sort_by_speed(const dev_list *list, size_t *chosen, size_t count, discovered *opened)
{
    double *speed = calloc(count, sizeof *speed);
    size_t fastest = 0, joining = 0;
    if (speed == NULL)
        return 0; /* any order will do then */
    discovery_speeds(list, chosen, count, speed, opened);
    for (size_t k = 1; k < count; k++)
        if (speed[k] > speed[fastest])
            fastest = k;
    const size_t first = chosen[fastest];
    const double largest = speed[fastest];
    for (size_t k = 0; k < count; k++) {
        joining += speed[k] == DISCOVERY_LATE && largest > 0 && may_join(list, chosen[k], first);
        speed[k] = rank_of(list, chosen[k], speed[k], first, largest);
    }
    for (size_t k = 1; k < count; k++)
        for (size_t at = k; at > 0 && speed[at] > speed[at - 1]; at--) {
            const size_t swap = chosen[at];
            const double swapped = speed[at];
            chosen[at] = chosen[at - 1];
            chosen[at - 1] = swap;
            speed[at] = speed[at - 1];
            speed[at - 1] = swapped;
        }
    free(speed);
    return joining;
}

static atomic_bool found_none;

bool selector_found_none(void)
{
    return atomic_load(&found_none);
}

ley_status selector_choose(const dev_list *list, const char *selector, size_t *chosen, size_t *count, size_t *joining,
                           discovered *first, ley_error *error)
{
    char text[512];
    *count = *joining = 0;
    *first = (discovered){.device = NULL};
    remarks(list, NULL, text, sizeof text);
    if (list->count == 0)
        atomic_store(&found_none, true);
    if (list->count == 0)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "there is no device%s", text);
    if (selector != NULL) {
        char *words = strdup(selector);
        if (words == NULL)
            return ley_fail_memory(error, strlen(selector), "the list of devices");
        ley_status status = choose_words(list, words, chosen, count, error);
        free(words);
        deal_cards(list, chosen, count);
        return status;
    }
    for (size_t i = 0; i < list->count; i++)
        if (list->infos[i].unusable[0] == '\0')
            chosen[(*count)++] = i;
    if (*count == 0)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: %s", list->infos[0].name, list->infos[0].unusable);
    deal_cards(list, chosen, count);
    const size_t measured = leave_out(list, chosen, *count);
    if (measured > 1)
        *joining = sort_by_speed(list, chosen, measured, first);
    return LEY_OK;
}
