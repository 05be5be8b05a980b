/*
 * What every target has: a function that is given any bytes, as libFuzzer calls it, and
 * that ends the process where something is wrong. Linked with libFuzzer it looks for such
 * bytes; linked with replay.c it reads files.
 */
#ifndef COMMCOST_TESTS_FUZZ_TARGET_H
#define COMMCOST_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Once, before the first bytes. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Ends the process with the text unless the condition holds. */
void must(int condition, const char *text);

/* The bytes as a text, cut at the first 0; freed by the caller. */
char *text_of(const uint8_t *bytes, size_t count);

#endif
