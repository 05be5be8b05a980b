/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plain texts: what stays, what is replaced. Any bytes: tests/programs/input/fuzz_values.c.
 */
#include "helpers.h"

#include "common/result/text.h"

#include <stdio.h>
#include <string.h>

static void assert_plain(const char *text, const char *expected)
{
    char copy[128];
    (void)snprintf(copy, sizeof copy, "%s", text);
    bc_make_plain_text(copy, '_');
    assert_string_equal(copy, expected);
}

TEST(plain_text_stays)
{
    assert_plain("", "");
    assert_plain("halo --local=10,50 'a b' #~", "halo --local=10,50 'a b' #~");
    assert_plain("µs ° \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf",
                 "µs ° \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf");
}

TEST(control_characters_are_replaced)
{
    assert_plain("a\tb\nc\rd\x1b[1m\x7f", "a_b_c_d_[1m_");
    assert_plain("next\xc2\x85line", "next_line");
    assert_plain("line\xe2\x80\xa8separator, paragraph\xe2\x80\xa9", "line_separator, paragraph_");
}

TEST(other_bytes_are_replaced_one_by_one)
{
    assert_plain("\xff\xfe", "??");
    assert_plain("a\x80z", "a?z");
    assert_plain("cut \xe2\x82", "cut ??");
    assert_plain("cut \xc3", "cut ?");
    assert_plain("too long \xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "too long ?? ??? ????");
    assert_plain("surrogate \xed\xa0\x80", "surrogate ???");
    assert_plain("beyond \xf4\x90\x80\x80 \xf5\x80", "beyond ???? ??");
    assert_plain("\xe2(\xa1", "?(?");
}
