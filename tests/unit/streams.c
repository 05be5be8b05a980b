/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams.h"

#include "helpers.h"

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void make_temporary(char path[TEMPORARY_PATH_MAX])
{
    strcpy(path, "/tmp/commcost_test.XXXXXX");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

void write_text(const char *path, const char *text)
{
    FILE *const stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

const char *read_text(const char *path, char *text, size_t size)
{
    FILE *const stream = fopen(path, "r");
    assert_non_null(stream);
    text[fread(text, 1, size - 1, stream)] = '\0';
    fclose(stream);
    return text;
}

int divert(FILE *stream, const char *path)
{
    fflush(stream);
    const int saved = dup(fileno(stream));
    const int file = open(path, O_WRONLY | O_TRUNC);
    assert_true(saved >= 0 && file >= 0);
    dup2(file, fileno(stream));
    close(file);
    return saved;
}

void restore(FILE *stream, int saved)
{
    fflush(stream);
    clearerr(stream);
    dup2(saved, fileno(stream));
    close(saved);
}

bool choose_decimal_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8",
                                        "fr_FR.utf8"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            return true;
    return false;
}
