#include "common/machine/quota.h"

#include "common/machine/control_groups.h"
#include "common/machine/system_file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- reading --------------------------------------------------------------------------------- */

/* cpu.max: "QUOTA PERIOD" in µs, with "max" for a QUOTA without limit. */
static bool read_version_2(const char *folder, int64_t *quota_us, int64_t *period_us)
{
    char path[PATH_MAX], line[128], *end;
    if (snprintf(path, sizeof path, "%s/cpu.max", folder) >= (int)sizeof path)
        return false;
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return false;
    const bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (!read)
        return false;
    *quota_us = strtoll(line, &end, 10);
    if (end == line)
        return false;
    const char *const second = end;
    *period_us = strtoll(second, &end, 10);
    return end != second;
}

/* -1 for a quota without limit. */
static bool read_version_1(const char *folder, int64_t *quota_us, int64_t *period_us)
{
    return bc_system_number(folder, "cpu.cfs_quota_us", "", quota_us) &&
           bc_system_number(folder, "cpu.cfs_period_us", "", period_us);
}

static bool is_same(const struct bc_quota *a, const struct bc_quota *b)
{
    return a->device == b->device && a->group == b->group;
}

static bool has(const struct bc_quotas *quotas, const struct bc_quota *quota)
{
    for (int64_t i = 0; i < quotas->count; i++)
        if (is_same(&quotas->of[i], quota))
            return true;
    return false;
}

static void add_quota(const char *folder, int version, void *context)
{
    struct bc_quotas *const quotas = context;
    int64_t quota_us = 0, period_us = 0;
    struct stat status;
    const bool known = version == 1 ? read_version_1(folder, &quota_us, &period_us)
                                    : read_version_2(folder, &quota_us, &period_us);
    if (!known || quota_us <= 0 || period_us <= 0 || stat(folder, &status) != 0)
        return;
    const struct bc_quota quota = {
        .device = status.st_dev,
        .group = status.st_ino,
        .processors = (double)quota_us / (double)period_us,
        .version = version,
    };
    if (quotas->count < BC_QUOTAS_MAX && !has(quotas, &quota))
        quotas->of[quotas->count++] = quota;
}

void bc_quotas_read(struct bc_quotas *quotas, const char *membership, const char *mount)
{
    memset(quotas, 0, sizeof *quotas); /* all of it is sent */
    bc_groups_visit(membership, mount, "cpu", add_quota, quotas);
}

const char *bc_quota_file(const struct bc_quota *quota)
{
    return quota->version == 1 ? "cpu.cfs_quota_us" : "cpu.max";
}

/* ---- judging --------------------------------------------------------------------------------- */

static int count_sharing(const struct bc_quotas *quotas, int count, const struct bc_quota *quota)
{
    int sharing = 0;
    for (int i = 0; i < count; i++)
        sharing += has(&quotas[i], quota);
    return sharing;
}

struct bc_quota_finding bc_quotas_judge(const struct bc_quotas *quotas, int count)
{
    struct bc_quota_finding finding = {.processors = 0.0, .ranks = 0};
    double smallest = 1.0;
    for (int i = 0; i < count; i++) {
        double share = INFINITY; /* of a processor, that this rank may have */
        for (int64_t j = 0; j < quotas[i].count; j++) {
            const struct bc_quota *const quota = &quotas[i].of[j];
            const int sharing = count_sharing(quotas, count, quota);
            share = fmin(share, quota->processors / sharing);
            if (quota->processors / sharing < smallest) {
                smallest = quota->processors / sharing;
                finding.exceeded = *quota;
                finding.ranks = sharing;
            }
        }
        finding.processors += share;
    }
    return finding;
}
