#include "typed.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int word_count;
static char *const *words;

void typed_begin(int argc, char **argv)
{
    word_count = argc;
    words = argv;
}

void typed_put(typed_text *text, const char *word)
{
    const size_t used = strlen(text->s);
    snprintf(text->s + used, sizeof text->s - used, "%s", word);
}

bool typed_has(const char *word)
{
    for (int i = 1; i < word_count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static const char *swapped(const char *word, const typed_swap *swaps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, swaps[i].word) == 0)
            return swaps[i].instead;
    return word;
}

static void put_word(typed_text *text, const char *word)
{
    char *quoted = quoted_word(word);
    typed_put(text, " ");
    typed_put(text, quoted);
    free(quoted);
}

void typed_put_command(typed_text *text, const typed_swap *swaps, size_t n)
{
    typed_put(text, "ype: leyden");
    for (int i = 1; i < word_count; i++)
        put_word(text, swapped(words[i], swaps, n));
}

typed_text typed_instead(const typed_swap *swaps, size_t n)
{
    typed_text text = {""};
    bool is_any = false;
    for (size_t i = 0; i < n; i++)
        is_any = is_any || typed_has(swaps[i].word);
    typed_put(&text, is_any ? "; t" : "");
    if (is_any)
        typed_put_command(&text, swaps, n);
    return text;
}

typed_text typed_with(const char *option, const char *word)
{
    typed_text text = {"; type: leyden"};
    for (int i = 1; i < word_count; i++) {
        if (words[i] == word)
            put_word(&text, option);
        put_word(&text, words[i]);
    }
    if (word == NULL)
        put_word(&text, option);
    return text;
}

typed_text typed_passed_on(const char *word)
{
    typed_text text = {"; type: leyden"};
    for (int i = 1; i < word_count; i++)
        if (words[i] != word)
            put_word(&text, words[i]);
    typed_put(&text, " --");
    put_word(&text, word);
    return text;
}

const char *typed_behind(const char *word)
{
    for (int i = 1; i + 1 < word_count; i++)
        if (words[i] == word)
            return words[i + 1];
    return NULL;
}
