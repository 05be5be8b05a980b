/*
 * Memory, arrays that grow, and texts with numbers. Without memory all of these functions call
 * out_of_memory. All local.
 */
#ifndef COMMCOST_BENCH_COMPARE_STORAGE_H
#define COMMCOST_BENCH_COMPARE_STORAGE_H

#include <stddef.h>
#include <stdint.h>

/* Ends the program: abort, unless the program sets another function. */
extern void (*out_of_memory)(void);

/* Zeros, and a copy of a text; freed by the caller. */
void *allocate(size_t count, size_t element_size);
char *copy_text(const char *text);

/* Makes room for one more element in an array, given its pointer's address. Capacities are powers
   of 2, so the count tells when it is full. */
void make_room(void *array, size_t count, size_t element_size);

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

/* The text's entry, which is new if its number is SIZE_MAX. */
struct entry *look_up(struct dictionary *dictionary, const char *text);
void free_dictionary(struct dictionary *dictionary);

/* Puts a copy of a text where an allocated one, or NULL, was. */
void keep_text(char **place, const char *text);

/* Frees an array of allocated texts. */
void free_texts(char **texts, size_t count);

#endif
