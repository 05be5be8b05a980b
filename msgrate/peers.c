#include "msgrate/peers.h"

static int greatest_common_divisor(int a, int b)
{
    while (b != 0) {
        const int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool msgrate_peers_distinct(int ranks, int count, int stride)
{
    /* Two of the peers, or a peer and the rank itself, are 1 to `count` strides
       apart; that many strides are a whole number of turns of the ring first
       after `ranks / divisor` of them. */
    return ranks / greatest_common_divisor(ranks, stride % ranks) > count;
}

/* `count` ranks, `below` of them lower, in ascending order. */
static void list(int rank, int ranks, int count, int below, int stride,
                 int *peers)
{
    stride %= ranks;
    for (int i = 0; i < count; i++) {
        const int steps = i < below ? i - below : i - below + 1;
        const long long place = rank + (long long)steps * stride;
        peers[i] = (int)((place % ranks + ranks) % ranks);
    }
}

void msgrate_peers_list(int rank, int ranks, int count, int stride, int *sends,
                        int *receives)
{
    list(rank, ranks, count, count / 2, stride, sends);
    list(rank, ranks, count, count - count / 2, stride, receives);
}

int msgrate_partner(int rank, int ranks)
{
    const int half = ranks / 2;
    if (rank >= 2 * half)
        return -1;
    return rank < half ? rank + half : rank - half;
}
