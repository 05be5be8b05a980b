/*
 * Numbers in the files in which Linux tells about itself.
 */
#ifndef COMMCOST_COMMON_MACHINE_SYSTEM_FILE_H
#define COMMCOST_COMMON_MACHINE_SYSTEM_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the number behind a word that begins a line of a folder's file; in the file's
   first line where the word is "". False if there is none. Local. */
bool bc_system_number(const char *folder, const char *name, const char *word, int64_t *number);

#endif
