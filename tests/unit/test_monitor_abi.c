/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI libraries that the monitor can call. */
#include "helpers.h"

#include "monitor/lib/wrap/mpi_library.h"

static const char mpich[] = "MPICH Version: 4.0.2", open_mpi[] = "Open MPI v4.1.4",
                  unnamed[] = "some library";

TEST(libraries_are_told_apart)
{
    static const struct {
        const char *library;
        int standard_version;
        int abi;
    } cases[] = {{mpich, 0, ABI_MPICH},
                 {mpich, -1, ABI_MPICH},
                 {mpich, 1, 1},
                 {"MVAPICH2 Version: 2.3.7", 0, ABI_MPICH},
                 {"Intel(R) MPI Library 2021.10 for Linux* OS", 0, ABI_MPICH},
                 {open_mpi, 0, ABI_OPEN_MPI},
                 {open_mpi, 2, 2},
                 {unnamed, 0, ABI_OTHER}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(abi_of_library(cases[i].library, cases[i].standard_version), cases[i].abi);
}

TEST(other_abis_are_refused)
{
    enum { KINDS = 5 };
    static const int kinds[KINDS] = {ABI_MPICH, ABI_OPEN_MPI, ABI_OTHER, 1, 2};
    static const bool fits[KINDS][KINDS] = {
        {true, false, true, false, false},  {false, true, true, false, false},
        {true, false, true, false, false},  {false, false, false, true, false},
        {false, false, false, false, true},
    };
    for (size_t built = 0; built < KINDS; built++)
        for (size_t program = 0; program < KINDS; program++)
            assert_int_equal(abi_fits(kinds[built], kinds[program]), fits[built][program]);
}
