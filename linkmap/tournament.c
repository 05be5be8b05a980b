#include "linkmap/tournament.h"

/* An even number: with an odd number of points one seat is empty, and who meets it rests. */
static int seats(int points) { return points + points % 2; }

int linkmap_rounds(int points) { return points < 2 ? 0 : seats(points) - 1; }

int linkmap_partner(int point, int round, int points)
{
    /* Seats i and j meet if i + j is 2 * round modulo `last`; the seat that would meet itself meets
       the last one. */
    const int last = seats(points) - 1;
    int partner = round;
    if (point != last) {
        partner = (int)(((long long)2 * round - point) % last);
        partner = partner < 0 ? partner + last : partner;
        partner = partner == point ? last : partner;
    }
    return partner < points ? partner : -1;
}
