/*
 * The monitor's variable, MPIRT_MONITOR.
 */
#include "target.h"

#include "monitor/lib/wrap/environment.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    must(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "a locale C.UTF-8");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static struct environment environment;
    struct bc_error error = {""};
    char *const text = text_of(bytes, count);
    if (environment_parse(text, &environment, &error)) {
        must(error.text[0] == '\0', "no error of what is accepted");
        must(environment.handle.profile == 1, "a monitor that monitors");
        must(environment.handle.large_bytes >= 1, "a size of large messages");
        must(environment.handle.timeout_us >= 0.0 && isfinite(environment.handle.timeout_us),
             "a timeout");
        must(strlen(environment.output) < sizeof environment.output, "a name that ends");
    } else {
        must(strncmp(error.text, "MPIRT_MONITOR: ", 15) == 0, "an error that names the variable");
        must(mbstowcs(NULL, error.text, 0) != (size_t)-1, "an error that is text");
    }
    free(text);
    return 0;
}
