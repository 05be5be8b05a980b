/*
 * Which MPI libraries the monitor can call, and which it must not.
 */
#include "helpers.h"

#include "monitor/abi.h"

static const char mpich[] = "MPICH Version: 4.0.2", open_mpi[] = "Open MPI v4.1.4",
                  unnamed[] = "some library";

TEST(libraries_are_told_apart)
{
    static const struct {
        const char *library;
        int standard_version;
        struct abi abi;
    } cases[] = {{mpich, 0, {ABI_MPICH, 0}},
                 {mpich, -1, {ABI_MPICH, 0}},
                 {mpich, 1, {ABI_STANDARD, 1}},
                 {"MVAPICH2 Version: 2.3.7", 0, {ABI_MPICH, 0}},
                 {"Intel(R) MPI Library 2021.10 for Linux* OS", 0, {ABI_MPICH, 0}},
                 {open_mpi, 0, {ABI_OPEN_MPI, 0}},
                 {open_mpi, 2, {ABI_STANDARD, 2}},
                 {unnamed, 0, {ABI_OTHER, 0}}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct abi abi = abi_of_library(cases[i].library, cases[i].standard_version);
        assert_int_equal(abi.family, cases[i].abi.family);
        assert_int_equal(abi.version, cases[i].abi.version);
    }
}

TEST(other_abis_are_refused)
{
    enum { KINDS = 5 };
    static const struct abi kinds[KINDS] = {
        {ABI_MPICH, 0}, {ABI_OPEN_MPI, 0}, {ABI_OTHER, 0}, {ABI_STANDARD, 1}, {ABI_STANDARD, 2}};
    static const bool fits[KINDS][KINDS] = {
        {true, false, true, false, false},  {false, true, true, false, false},
        {true, false, true, false, false},  {false, false, false, true, false},
        {false, false, false, false, true},
    };
    for (size_t built = 0; built < KINDS; built++)
        for (size_t program = 0; program < KINDS; program++)
            assert_int_equal(abi_fits(kinds[built], kinds[program]), fits[built][program]);
}
