#include "run_scripts/bench_compare/storage.h"

#include <stdlib.h>
#include <string.h>

void (*out_of_memory)(void) = abort;

static void *require(void *memory)
{
    if (memory == NULL) {
        out_of_memory();
        abort();
    }
    return memory;
}

void *allocate(size_t count, size_t element_size)
{
    return require(calloc(count > 0 ? count : 1, element_size));
}

char *copy_text(const char *text) { return require(strdup(text)); }

void make_room(void *array, size_t count, size_t element_size)
{
    void **const place = array;
    const size_t capacity = count < 16 ? 16 : 2 * count;
    if (count == 0 || (count >= 16 && (count & (count - 1)) == 0))
        *place = require(realloc(*place, capacity * element_size));
}

uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t count)
{
    /* FNV-1a (Fowler, Noll, Vo). */
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static struct entry *find_entry(const struct dictionary *dictionary, const char *text)
{
    size_t at = (size_t)hash_bytes(HASH_START, text, strlen(text)) & (dictionary->size - 1);
    while (dictionary->entries[at].text != NULL && strcmp(dictionary->entries[at].text, text) != 0)
        at = (at + 1) & (dictionary->size - 1);
    return &dictionary->entries[at];
}

static void enlarge(struct dictionary *dictionary)
{
    struct dictionary larger = {.size = dictionary->size == 0 ? 64 : 2 * dictionary->size,
                                .used = dictionary->used};
    larger.entries = allocate(larger.size, sizeof *larger.entries);
    for (size_t i = 0; i < dictionary->size; i++)
        if (dictionary->entries[i].text != NULL)
            *find_entry(&larger, dictionary->entries[i].text) = dictionary->entries[i];
    free(dictionary->entries);
    *dictionary = larger;
}

struct entry *look_up(struct dictionary *dictionary, const char *text)
{
    if (2 * (dictionary->used + 1) > dictionary->size)
        enlarge(dictionary);
    struct entry *const entry = find_entry(dictionary, text);
    if (entry->text == NULL) {
        *entry = (struct entry){copy_text(text), SIZE_MAX};
        dictionary->used++;
    }
    return entry;
}

void free_dictionary(struct dictionary *dictionary)
{
    for (size_t i = 0; i < dictionary->size; i++)
        free(dictionary->entries[i].text);
    free(dictionary->entries);
}

void keep_text(char **place, const char *text)
{
    free(*place);
    *place = copy_text(text);
}

void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}
