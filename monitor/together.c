#include "monitor/together.h"

#include "common/mpi/mpi_check.h"

#include <string.h>

/* What ranks have of a series. */
struct head {
    int64_t key; /* INT64_MAX: there are no more series */
    int64_t calls;
    int32_t kept; /* 0: ranks have counted or kept other calls */
    int32_t ranks, processes;
};

enum { CHILDREN_MAX = 31 };

/* This rank in the tree. */
struct place {
    MPI_Comm comm;
    int parent; /* -1: none */
    int children;
    int child[CHILDREN_MAX];
    struct head next[CHILDREN_MAX]; /* what each child has next */
};

static _Alignas(max_align_t) char sum[LATE_KEPT_MAX * TOGETHER_PART_MAX];
static _Alignas(max_align_t) char more[LATE_KEPT_MAX * TOGETHER_PART_MAX];

enum { TAG_HEAD, TAG_PARTS };

static void send_parts(const struct head *head, const struct together *how, int to, MPI_Comm comm)
{
    BC_MPI(PMPI_Send(head, sizeof *head, MPI_BYTE, to, TAG_HEAD, comm));
    if (head->kept > 0)
        BC_MPI(PMPI_Send(sum, head->kept * (int)how->size, MPI_BYTE, to, TAG_PARTS, comm));
}

static void receive_head(struct head *head, int from, MPI_Comm comm)
{
    BC_MPI(PMPI_Recv(head, sizeof *head, MPI_BYTE, from, TAG_HEAD, comm, MPI_STATUS_IGNORE));
}

static void receive_parts(const struct head *head, const struct together *how, char *parts,
                          int from, MPI_Comm comm)
{
    if (head->kept > 0)
        BC_MPI(PMPI_Recv(parts, head->kept * (int)how->size, MPI_BYTE, from, TAG_PARTS, comm,
                         MPI_STATUS_IGNORE));
}

static void find_place(struct place *place, MPI_Comm comm)
{
    int rank, ranks;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    BC_MPI(PMPI_Comm_size(comm, &ranks));
    *place = (struct place){.comm = comm, .parent = rank == 0 ? -1 : rank & (rank - 1)};
    for (int step = 1; step < ranks - rank && (rank & step) == 0; step *= 2) {
        place->child[place->children] = rank + step;
        receive_head(&place->next[place->children++], rank + step, comm);
    }
}

static struct head head_of(const struct late_item *item)
{
    const struct late_series *const series = item->series;
    struct head head;
    memset(&head, 0, sizeof head); /* also the padding: it is sent as bytes */
    head.key = item->key;
    head.calls = series->calls;
    head.kept = series->kept;
    head.ranks = 1;
    head.processes = item->processes;
    return head;
}

/* Adds a child's parts to the sum, which may be of nobody yet. */
static void add_child(struct head *all, const struct place *place, int child,
                      const struct together *how)
{
    const struct head *const head = &place->next[child];
    char *const parts = all->ranks == 0 ? sum : more;
    receive_parts(head, how, parts, place->child[child], place->comm);
    if (all->ranks == 0) {
        *all = *head;
        return;
    }
    all->ranks += head->ranks;
    if (all->calls != head->calls || all->kept != head->kept)
        all->kept = 0;
    how->add(sum, more, all->kept);
}

/* The smallest key that this rank or one below it has next. */
static int64_t next_key(const struct place *place, int64_t own)
{
    int64_t key = own;
    for (int i = 0; i < place->children; i++)
        if (place->next[i].key < key)
            key = place->next[i].key;
    return key;
}

/* Has the parts of the whole communicator added up, here or by the ranks above. */
static void complete(struct head *all, const struct place *place, const struct together *how)
{
    if (place->parent < 0 || all->ranks == all->processes)
        return;
    send_parts(all, how, place->parent, place->comm);
    receive_head(all, place->parent, place->comm);
    receive_parts(all, how, sum, place->parent, place->comm);
}

static void hand_down(const struct head *all, struct place *place, const struct together *how)
{
    for (int i = 0; i < place->children; i++)
        if (place->next[i].key == all->key) {
            send_parts(all, how, place->child[i], place->comm);
            receive_head(&place->next[i], place->child[i], place->comm);
        }
}

void together(int count, const struct late_item items[], const struct together *how, MPI_Comm comm)
{
    struct place place;
    find_place(&place, comm);
    for (int item = 0;;) {
        const int64_t own = item < count ? items[item].key : INT64_MAX;
        const int64_t key = next_key(&place, own);
        if (key == INT64_MAX)
            break;
        struct head all = {.ranks = 0};
        if (own == key) {
            all = head_of(&items[item]);
            how->set_own(how->context, item, sum);
        }
        for (int i = 0; i < place.children; i++)
            if (place.next[i].key == key)
                add_child(&all, &place, i, how);
        complete(&all, &place, how);
        hand_down(&all, &place, how);
        if (own == key)
            how->read(how->context, item++, all.kept > 0 && all.ranks == all.processes, sum);
    }
    const struct head end = {.key = INT64_MAX};
    if (place.parent >= 0)
        BC_MPI(PMPI_Send(&end, sizeof end, MPI_BYTE, place.parent, TAG_HEAD, comm));
}
