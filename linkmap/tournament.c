#include "linkmap/tournament.h"

/* An even number: with an odd one there is one more, and whoever meets that rests. */
static int seats(int points) { return points + points % 2; }

int linkmap_rounds(int points) { return points < 2 ? 0 : seats(points) - 1; }

int linkmap_partner(int point, int round, int points)
{
    /* The last seat stays, the others turn: two of these meet where their numbers add up to twice
       the round's, and who would meet itself meets the last. */
    const int last = seats(points) - 1;
    int partner = round;
    if (point != last) {
        partner = (int)(((long long)2 * round - point) % last);
        partner = partner < 0 ? partner + last : partner;
        partner = partner == point ? last : partner;
    }
    return partner < points ? partner : -1;
}
