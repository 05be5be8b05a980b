/* Who meets whom in a tournament of up to 70 points. */
#include "helpers.h"
#include "linkmap/links.h"

#include <string.h>

enum { POINTS_MAX = 70 };

/* In each round who meets a point is met by it; over all rounds all meet once, and with an odd
   number each rests once. */
TEST(all_meet_once)
{
    for (int points = 2; points <= POINTS_MAX; points++) {
        int met[POINTS_MAX][POINTS_MAX] = {{0}}, rested[POINTS_MAX] = {0};
        for (int round = 0; round < linkmap_rounds(points); round++)
            for (int point = 0; point < points; point++) {
                const int partner = linkmap_partner(point, round, points);
                assert_in_range(partner + 1, 0, points);
                if (partner < 0) {
                    rested[point]++;
                    continue;
                }
                assert_int_not_equal(partner, point);
                assert_int_equal(linkmap_partner(partner, round, points), point);
                met[point][partner]++;
            }
        for (int a = 0; a < points; a++) {
            assert_int_equal(rested[a], points % 2);
            for (int b = 0; b < points; b++)
                assert_int_equal(met[a][b], a != b);
        }
    }
}

TEST(as_few_rounds_as_there_can_be)
{
    assert_int_equal(linkmap_rounds(0), 0);
    assert_int_equal(linkmap_rounds(1), 0);
    assert_int_equal(linkmap_rounds(2), 1);
    assert_int_equal(linkmap_rounds(7), 7);
    assert_int_equal(linkmap_rounds(1000), 999);
}
