/*
 * The monitor's variable, MPIRT_MONITOR.
 */
#include "target.h"

#include "monitor/common_clock.h"
#include "monitor/environment.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing starts here. */
void snapshots_begin_at(uint64_t entry_ticks, uint64_t exit_ticks)
{
    (void)entry_ticks, (void)exit_ticks;
}

uint64_t common_clock_compare(MPI_Comm comm)
{
    (void)comm;
    return 0;
}

int MPIX_Start_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle, FILE *f)
{
    (void)request, (void)handle, (void)f;
    abort();
}

int MPIX_End_monitor(MPIX_Monitor_request *request, MPIX_Monitor *handle)
{
    (void)request, (void)handle;
    abort();
}

const char *MPIX_Monitor_error_string(int code)
{
    (void)code;
    abort();
}

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
