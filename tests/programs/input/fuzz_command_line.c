/*
 * A program, a job, an environment and a command line: what judge.h says must hold.
 *
 * The first two bytes are a program and a job; then come pieces that end with a byte of 0 or a line
 * break: a piece that begins with `$` is NAME=VALUE for the environment, any other a word.
 */
#include "target.h"

#include "judge.h"
#include "programs.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    must(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "a locale C.UTF-8");
    return 0;
}

/* Some checks take time for each rank. */
static struct job job_of(uint8_t number)
{
    struct job job = job_with(number);
    job.ranks = 1 + (job.ranks - 1) % 1024;
    return job;
}

static void add_piece(struct line *line, char *piece)
{
    char *const sign = strchr(piece, '=');
    if (piece[0] != '$') {
        if (line->count < WORDS_MAX)
            line->words[line->count++] = piece;
    } else if (sign != NULL && line->variable_count < VARIABLES_MAX) {
        *sign = '\0';
        line->variables[line->variable_count].name = piece + 1;
        line->variables[line->variable_count++].value = sign + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static char name[] = "program";
    struct line line = {.words = {name}, .count = 1};
    if (count < 2)
        return 0;
    const struct bc_program *const program = programs[bytes[0] % programs_count];
    const struct job job = job_of(bytes[1]);
    char *const text = text_of(bytes + 2, count - 2);
    for (char *piece = text; piece < text + count - 2;) {
        char *const end = piece + strcspn(piece, "\n");
        char *const next = end + 1;
        *end = '\0';
        add_piece(&line, piece);
        piece = next;
    }
    must(judge(program, &line, &job), "taken, or refused in a line");
    free(text);
    return 0;
}
