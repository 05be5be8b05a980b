#include "run_scripts/bench_compare/storage.h"

#include <stdlib.h>
#include <string.h>

bool no_memory(struct bc_error *error)
{
    return bc_error_set(error, "out of memory: compare fewer files at a time");
}

bool make_room(void *array, size_t count, size_t element_size)
{
    if (count != 0 && (count < 16 || (count & (count - 1)) != 0))
        return true;
    void **const place = array;
    const size_t capacity = count < 16 ? 16 : 2 * count;
    void *const larger = realloc(*place, capacity * element_size);
    if (larger == NULL)
        return false;
    *place = larger;
    return true;
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

static bool enlarge(struct dictionary *dictionary)
{
    struct dictionary larger = {.size = dictionary->size == 0 ? 64 : 2 * dictionary->size,
                                .used = dictionary->used};
    larger.entries = calloc(larger.size, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < dictionary->size; i++)
        if (dictionary->entries[i].text != NULL)
            *find_entry(&larger, dictionary->entries[i].text) = dictionary->entries[i];
    free(dictionary->entries);
    *dictionary = larger;
    return true;
}

struct entry *look_up(struct dictionary *dictionary, const char *text)
{
    if (2 * (dictionary->used + 1) > dictionary->size && !enlarge(dictionary))
        return NULL;
    struct entry *const entry = find_entry(dictionary, text);
    if (entry->text == NULL) {
        entry->text = strdup(text);
        if (entry->text == NULL)
            return NULL;
        entry->number = SIZE_MAX;
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

bool keep_text(char **place, const char *text, struct bc_error *error)
{
    free(*place);
    *place = strdup(text);
    return *place != NULL || no_memory(error);
}

void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count && texts != NULL; i++)
        free(texts[i]);
    free(texts);
}
