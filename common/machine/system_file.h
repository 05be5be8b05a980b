/*
 * Numbers from the files in which Linux describes itself (/proc, /sys). All local.
 */
#ifndef COMMCOST_COMMON_MACHINE_SYSTEM_FILE_H
#define COMMCOST_COMMON_MACHINE_SYSTEM_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads `count` integers from the beginning of a text. False if it has fewer. */
bool bc_parse_integers(const char *text, int64_t *numbers, int count);

/* Reads the `count` integers behind `word`, from the first line of the file FOLDER/NAME that begins
   with the word and has them; any line begins with "". False if there is no such line. */
bool bc_system_numbers(const char *folder, const char *name, const char *word, int64_t *numbers,
                       int count);

#endif
