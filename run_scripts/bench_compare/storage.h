/*
 * Arrays that grow, texts with numbers, and what is said without memory. All local.
 */
#ifndef COMMCOST_BENCH_COMPARE_STORAGE_H
#define COMMCOST_BENCH_COMPARE_STORAGE_H

#include "common/run/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the error; always false. */
bool no_memory(struct bc_error *error);

/* Makes room for one more element in an array, given its pointer's address; false
   without memory. Capacities are powers of 2, so the count tells when it is full. */
bool make_room(void *array, size_t count, size_t element_size);

/* A hash of bytes after what was hashed before, from HASH_START on. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t count);

/* Texts and their numbers. Starts as zeros. */
struct dictionary {
    struct entry {
        char *text; /* NULL: free */
        size_t number;
    } * entries;
    size_t size, used; /* size: a power of 2 */
};

/* The text's entry, which is new if its number is SIZE_MAX; NULL without memory. */
struct entry *look_up(struct dictionary *dictionary, const char *text);
void free_dictionary(struct dictionary *dictionary);

/* Puts a copy of a text where an allocated one, or NULL, was. False without memory. */
bool keep_text(char **place, const char *text, struct bc_error *error);

/* Frees an array of allocated texts; NULL is none. */
void free_texts(char **texts, size_t count);

#endif
