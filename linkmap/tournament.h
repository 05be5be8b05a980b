/*
 * A round-robin tournament: all pairs of points meet once, in the min number of rounds, in each of
 * which a point meets at most one other. The circle method (Kirkman, "On a Problem in
 * Combinations", Cambridge and Dublin Mathematical Journal 2 (1847); Anderson, Combinatorial
 * Designs and Tournaments, 1997). All functions are local and depend on their arguments only.
 */
#pragma once

/* The number of rounds: points - 1 if `points` is even; otherwise `points`, in each of which one
   point rests. */
int linkmap_rounds(int points);

/* The partner of a point (0 to points - 1) in a round (0 to linkmap_rounds - 1); -1: it rests. */
int linkmap_partner(int point, int round, int points);
