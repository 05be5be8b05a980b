/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes to a mapped file as MPI libraries write to theirs in /dev/shm, with what a
 * benchmark does against a bus error. Not an MPI program.
 *
 * usage: bus_error FILE ROOM_BYTES WRITTEN_BYTES   FILE is made ROOM_BYTES long
 */
#include "common/job/limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const off_t room = strtol(argv[2], NULL, 10);
    const size_t written = strtoul(argv[3], NULL, 10);
    bc_shared_memory_watch(false);
    const int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || unlink(argv[1]) != 0 || ftruncate(file, room) != 0) {
        perror(argv[1]);
        return 2;
    }
    void *const memory = mmap(NULL, written, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    memset(memory, 1, written);
    return 0;
}
