/*
 * Rounds in which each of a number of points meets each other one once, as many pairs as there can
 * be in each round: the circle method (Kirkman, "On a Problem in Combinations", Cambridge and
 * Dublin Mathematical Journal 2 (1847); Anderson, Combinatorial Designs and Tournaments, 1997).
 * All functions are local and depend on their arguments only.
 */
#ifndef COMMCOST_LINKMAP_TOURNAMENT_H
#define COMMCOST_LINKMAP_TOURNAMENT_H

/* The rounds of a tournament: points - 1 if their number is even; otherwise `points`, in each of
   which one point rests. */
int linkmap_rounds(int points);

/* Whom a point (0 to points - 1) meets in a round (0 to linkmap_rounds - 1); -1: it rests. */
int linkmap_partner(int point, int round, int points);

#endif
