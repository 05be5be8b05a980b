/*
 * Numbers from the files in which Linux describes itself (/proc, /sys). Local.
 */
#ifndef COMMCOST_COMMON_MACHINE_SYSTEM_FILE_H
#define COMMCOST_COMMON_MACHINE_SYSTEM_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the `count` integers behind `word`, from the first line of a file that begins with the word
   and has them; any line begins with "". printf makes the file's path of `path`. False without one.
 */
bool bc_system_numbers(int64_t *numbers, int count, const char *word, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

#endif
