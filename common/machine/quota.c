#include "common/machine/quota.h"

#include "common/machine/control_groups.h"
#include "common/machine/system_file.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads quota and period, both in us. A group without a quota has -1 (version 1) or the word "max"
   (version 2) in its place. */
static bool read_quota(const char *folder, int version, int64_t us[2])
{
    if (version == 2)
        return bc_system_numbers(folder, "cpu.max", "", us, 2);
    return bc_system_numbers(folder, "cpu.cfs_quota_us", "", &us[0], 1) &&
           bc_system_numbers(folder, "cpu.cfs_period_us", "", &us[1], 1);
}

static bool has(const struct bc_quotas *quotas, const struct bc_quota *quota)
{
    for (int64_t i = 0; i < quotas->count; i++)
        if (quotas->of[i].device == quota->device && quotas->of[i].group == quota->group)
            return true;
    return false;
}

static void add_quota(const char *folder, int version, void *context)
{
    struct bc_quotas *const quotas = context;
    int64_t us[2] = {0, 0}; /* quota, period */
    struct stat status;
    if (!read_quota(folder, version, us) || us[0] <= 0 || us[1] <= 0 || stat(folder, &status) != 0)
        return;
    const struct bc_quota quota = {
        .device = status.st_dev,
        .group = status.st_ino,
        .processors = (double)us[0] / (double)us[1],
        .version = version,
    };
    if (quotas->count < BC_QUOTAS_MAX && !has(quotas, &quota))
        quotas->of[quotas->count++] = quota;
}

void bc_quotas_read(struct bc_quotas *quotas, const char *membership, const char *mount)
{
    memset(quotas, 0, sizeof *quotas); /* padding too: ranks send the whole struct */
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
        double share = INFINITY; /* of a processor, for this rank */
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
