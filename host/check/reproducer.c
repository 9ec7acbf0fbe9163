#include "check/reproducer.h"

#include "leyden.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Where the wrong value is ---------------------------------------------------------------- */

/* A value's bytes as a kernel would have stored it; false: it is none of this kind. */
static bool encode(double value, replay_kind kind, unsigned char bytes[8], size_t *size)
{
    const float single = (float)value;
    *size = kind == REPLAY_DOUBLE ? sizeof value : sizeof single;
    if (kind == REPLAY_DOUBLE)
        memcpy(bytes, &value, sizeof value);
    else if (kind == REPLAY_FLOAT)
        memcpy(bytes, &single, sizeof single);
    else if (fabs(value) < 2147483648.0 && value == floor(value))
        memcpy(bytes, &(int32_t){(int32_t)value}, sizeof(int32_t));
    else
        return false;
    return kind != REPLAY_FLOAT || isnan(value) || (double)single == value;
}

static double decode(const unsigned char *bytes, replay_kind kind)
{
    float single;
    double value;
    int32_t number;
    memcpy(&single, bytes, sizeof single);
    memcpy(&number, bytes, sizeof number);
    if (kind != REPLAY_DOUBLE)
        return kind == REPLAY_FLOAT ? (double)single : (double)number;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static bool is_at(const unsigned char *at, const unsigned char *bytes, size_t size, double found, replay_kind kind)
{
    return memcmp(at, bytes, size) == 0 || (isnan(found) && kind != REPLAY_INT && isnan(decode(at, kind)));
}

/* In the last read that has it. */
static replay find_value(const recorder *r, double found)
{
    for (size_t i = r->count; i > 0; i--) {
        const recorded *op = &r->all[i - 1];
        if (op->kind != RECORDED_READ || op->bytes == NULL)
            continue;
        for (replay_kind kind = REPLAY_FLOAT; kind < REPLAY_KINDS; kind++) {
            unsigned char bytes[8];
            size_t size;
            if (!encode(found, kind, bytes, &size))
                continue;
            for (size_t at = 0; at + size <= op->size; at += size)
                if (is_at(op->bytes + at, bytes, size, found, kind))
                    return (replay){.op = i - 1, .offset = at, .kind = kind};
        }
    }
    return (replay){.kind = REPLAY_KINDS};
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Takes the text over; false: the file cannot be written, or there is no text. */
static bool write_file(const char *folder, const char *name, char *text)
{
    char *path = NULL;
    ley_file *file = NULL;
    if (text == NULL || asprintf(&path, "%s/%s", folder, name) < 0) {
        free(text);
        return false;
    }
    bool is_there = ley_file_create(path, NULL, &file, NULL) == LEY_OK;
    if (is_there && ley_file_write(file, text, strlen(text), NULL) != LEY_OK) {
        ley_file_destroy(file);
        is_there = false;
    } else if (is_there) {
        is_there = ley_file_commit(file, NULL) == LEY_OK;
    }
    free(path);
    free(text);
    return is_there;
}

static bool write_kernels(const char *folder, const recorder *r)
{
    for (size_t i = 0; i < r->count; i++) {
        char name[64];
        if (r->all[i].kind != RECORDED_PROGRAM)
            continue;
        snprintf(name, sizeof name, "kernel_%d.cl", r->all[i].program);
        if (!write_file(folder, name, strdup(r->all[i].text)))
            return false;
    }
    return true;
}

/* GROUP-NAME-VARIANT, in letters that every file system has. */
static char *make_folder(const char *folder, const reproducer_fault *fault)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s-%s%s%s", folder, fault->group, fault->name, fault->variant[0] != '\0' ? "-" : "",
                 fault->variant) < 0)
        return NULL;
    for (char *c = path + strlen(folder) + 1; *c != '\0'; c++)
        if (strchr("/ ,:", *c) != NULL)
            *c = '_';
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return path;
    free(path);
    return NULL;
}

char *reproducer_write(const char *folder, const recorder *r, const reproducer_fault *fault)
{
    char title[256];
    if (!r->is_complete || r->own->replay == NULL)
        return NULL;
    replay what = find_value(r, fault->found);
    snprintf(title, sizeof title, "Written by leyden %s, check %s/%s %s", LEY_VERSION, fault->group, fault->name,
             fault->variant);
    what.right = fault->right;
    what.allowed = fault->allowed;
    what.info = fault->info;
    what.message = fault->message;
    what.title = title;
    char *path = what.kind != REPLAY_KINDS ? make_folder(folder, fault) : NULL;
    if (path != NULL && write_file(path, "repro_data.h", r->own->replay(r, &what, true)) && write_kernels(path, r) &&
        write_file(path, "repro.c", r->own->replay(r, &what, false)))
        return path;
    free(path);
    return NULL;
}
