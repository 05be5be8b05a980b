/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts and their ranks as a text. For any number of ranks.
 */
#include "ranks.h"

#include "common/job/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranks ----------------------------------------------------------------------------------- */

TEST(ranks_as_ranges)
{
    static const struct {
        int ranks[8];
        size_t count;
        const char *text;
    } cases[] = {
        {{0}, 0, ""},
        {{0}, 1, "0"},
        {{7}, 1, "7"},
        {{0, 1}, 2, "0-1"},
        {{0, 2}, 2, "0,2"},
        {{0, 1, 2, 3, 8}, 5, "0-3,8"},
        {{0, 4, 8, 12}, 4, "0-12/4"},
        {{1, 3, 5}, 3, "1-5/2"},
        {{0, 5, 6, 7}, 4, "0,5-7"},
        {{0, 1, 5, 6}, 4, "0-1,5-6"},
        {{3, 1000000, 2147483647}, 3, "3,1000000,2147483647"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[64];
        const size_t length = bc_format_ranks(cases[i].ranks, cases[i].count, text, sizeof text);
        if (cases[i].count == 0) { /* nothing to write */
            assert_int_equal(length, 0);
            continue;
        }
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(cases[i].text));
    }
}

TEST(ranges_are_cut_to_the_size)
{
    static const int numbers[] = {0, 1, 2, 3, 10, 20, 30, 100, 1000};
    static const char whole[] = "0-3,10-30/10,100,1000";
    for (size_t size = 0; size <= sizeof whole + 2; size++) {
        char text[64];
        memset(text, 'x', sizeof text);
        const size_t length =
            bc_format_ranks(numbers, COUNT(numbers), size > 0 ? text : NULL, size);
        assert_int_equal(length, sizeof whole - 1);
        assert_true(text[size] == 'x');
        if (size == 0)
            continue;
        const size_t expected = size <= length ? size - 1 : length;
        assert_int_equal(strlen(text), expected);
        assert_memory_equal(text, whole, expected);
    }
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* Adds hosts by a text "NAME RANK RANK; NAME RANK". */
static void add_hosts(struct bc_hosts *hosts, const char *text)
{
    while (*text != '\0') {
        char name[32];
        int of[8], used = 0;
        size_t count = 0;
        assert_int_equal(sscanf(text, "%31s%n", name, &used), 1);
        for (text += used; *text == ' ';) {
            char *end;
            of[count++] = (int)strtol(text, &end, 10);
            text = end;
        }
        bc_hosts_add(hosts, name, of, count);
        text += strspn(text, "; ");
    }
}

TEST(hosts_as_text)
{
    static const struct {
        const char *hosts, *text;
    } cases[] = {
        {"alone 0", "alone: 0"},
        {"host0 0 1 2 3; host1 4 5 6 7", "host0: 0-3; host1: 4-7"},
        {"n1 0; n2 1; n3 2", "n1: 0; n2: 1; n3: 2"},
        {"n1 0; n2 1; n3 2; n4 3", "n[1-4]: 0-3"},
        {"n08 2 3; n09 4 5; n10 6 7; n11 8 9", "n[08-11]: 2-9"},
        {"n9.at.home7 0; n10.at.home7 1; n11.at.home7 2; n12.at.home7 3", "n[9-12].at.home7: 0-3"},
        /* 010 does not follow 9. */
        {"n8 0; n9 1; n010 2; n011 3", "n8: 0; n9: 1; n010: 2; n011: 3"},
        /* Ranks that are dealt out. */
        {"n0 0 4 8; n1 1 5 9; n2 2 6 10; n3 3 7 11", "n[0-3]: 0-8/4, each next +1"},
        /* Numbered the other way round: nothing follows. */
        {"n3 0; n2 1; n1 2; n0 3", "n3: 0; n2: 1; n1: 2; n0: 3"},
        {"n0 3; n1 2; n2 1; n3 0", "n[0-3]: 3, each next -1"},
        /* The last host has fewer ranks. */
        {"n0 0 1; n1 2 3; n2 4 5; n3 6 7; n4 8", "n[0-3]: 0-7; n4: 8"},
        /* Ranks of no pattern. */
        {"n0 0 2 7 8; n1 1 3 9 10; n2 4; n3 5", "n0: 0,2,7-8; n1: 1,3,9-10; n2: 4; n3: 5"},
        {"a1b 0; a2b 1; a3b 2; a4b 3; a5b 4; c9 5", "a[1-5]b: 0-4; c9: 5"},
        {"x 0; x 1; x 2; x 3", "x: 0; x: 1; x: 2; x: 3"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bc_hosts hosts = {0};
        add_hosts(&hosts, cases[i].hosts);
        char *const text = bc_hosts_format(&hosts);
        assert_string_equal(text, cases[i].text);
        free(text);
        bc_hosts_free(&hosts);
    }
}

TEST(names_of_any_length)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    memset(name, '7', sizeof name);
    name[sizeof name - 1] = '\0';
    struct bc_hosts hosts = {0};
    bc_hosts_add(&hosts, name, (const int[]){0}, 1);
    bc_hosts_add(&hosts, "", (const int[]){1}, 1);
    char *const text = bc_hosts_format(&hosts);
    assert_memory_equal(text, name, sizeof name - 1);
    assert_string_equal(text + sizeof name - 1, ": 0; : 1");
    free(text);
    bc_hosts_free(&hosts);
}

/* A thousand numbered hosts take the memory of one. */
TEST(numbered_hosts_are_one_run)
{
    struct bc_hosts hosts = {0};
    for (int i = 0; i < 1024; i++) {
        char name[32];
        snprintf(name, sizeof name, "node-%d.cluster", i);
        bc_hosts_add(&hosts, name, (const int[]){2 * i, 2 * i + 1}, 2);
    }
    assert_int_equal(hosts.count, 1);
    char *const text = bc_hosts_format(&hosts);
    assert_string_equal(text, "node-[0-1023].cluster: 0-2047");
    free(text);
    bc_hosts_free(&hosts);
}

/* ---- from all ranks -------------------------------------------------------------------------- */

/* Adds the two hosts of rank `of`. Each third host has a name without a number. */
static void add_own(struct bc_hosts *hosts, int of)
{
    for (int i = 2 * of; i < 2 * of + 2; i++) {
        char name[32];
        snprintf(name, sizeof name, i % 3 == 2 ? "other" : "n%02d", i);
        bc_hosts_add(hosts, name, &i, 1);
    }
}

TEST(rank_0_gets_all_in_order)
{
    struct bc_hosts hosts = {0}, expected = {0};
    add_own(&hosts, rank);
    bc_hosts_gather(&hosts, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        add_own(&expected, i);
    char *const text = bc_hosts_format(&hosts);
    char *const expected_text = bc_hosts_format(&expected);
    const size_t count = hosts.count;
    bc_hosts_free(&hosts);
    bc_hosts_free(&expected);
    if (rank == 0)
        assert_string_equal(text, expected_text);
    else
        assert_int_equal(count, 0);
    free(text);
    free(expected_text);
}

const struct test_program test_program = {.mpi = true};
