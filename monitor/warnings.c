#include "monitor/warnings.h"

#include "monitor/flags.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

__attribute__((format(printf, 3, 4))) static void warn(struct warnings *warnings, int code,
                                                       const char *format, ...)
{
    MPIX_Monitor_warning *const warning = &warnings->warning[warnings->count++];
    *warning = (MPIX_Monitor_warning){.code = code};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(warning->text, sizeof warning->text, format, arguments);
    va_end(arguments);
}

void warn_of_handle(const MPIX_Monitor *handle, struct warnings *warnings)
{
    const bool asks = flags_any(handle);
    if (asks && !handle->profile)
        warn(warnings, MPIX_MONITOR_WARNING_OFF,
             "nothing is monitored: the handle's profile is 0, without which its other flags mean "
             "nothing: set it to 1");
    if (handle->profile && !asks)
        warn(warnings, MPIX_MONITOR_WARNING_NOTHING,
             "nothing is monitored: profile is the handle's only flag: set pttopt, coll, comm, "
             "msgsize, traffic or other, too");
}

void warnings_of_snapshot(const struct snapshot *snapshot, const struct rows *rows,
                          struct warnings *warnings)
{
    const MPIX_Monitor *const asked = &snapshot->asked;
    warnings->count = 0;
    warn_of_handle(asked, warnings);
    if (rows->untracked > 0)
        warn(warnings, MPIX_MONITOR_WARNING_UNTRACKED,
             "the end of %lld operations could not be followed, for want of room or since a call "
             "around the monitor (PMPI_) completed them: they count as calls, but not as completed",
             (long long)rows->untracked);
    if (rows->untold > 0)
        warn(warnings, MPIX_MONITOR_WARNING_UNTOLD,
             "whether %lld one-sided operations took longer than the timeout could not be told, "
             "for want of room: they are not in the timeouts",
             (long long)rows->untold);
    if (rows->unknown > 0)
        warn(warnings, MPIX_MONITOR_WARNING_UNKNOWN,
             "%lld windows or persistent requests found no room: their operations can't be "
             "followed",
             (long long)rows->unknown);
    if (rows->unplaced > 0)
        warn(warnings, MPIX_MONITOR_WARNING_UNPLACED,
             "%lld operations are on communicators (of which %d fit), windows or messages that "
             "found no room: they count for '%s'",
             (long long)rows->unplaced, COMMUNICATORS_MAX - 1,
             communicators[OTHER_COMMUNICATORS].name);
    if (asked->profile && asked->other && snapshot->services.warning != NULL)
        warn(warnings, MPIX_MONITOR_WARNING_SERVICES, "%s", snapshot->services.warning);
}
