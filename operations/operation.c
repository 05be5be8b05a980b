#include "operations/operation.h"

#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const op_form_names[OP_FORMS] = {"nonblocking", "persistent"};
const char *const op_type_names[OP_TYPES] = {"double", "float", "int", "char"};
const char *const op_reduction_names[OP_REDUCTIONS] = {"sum", "max", "min"};

/* ---- elements ------------------------------------------------------------------------------- */

int64_t op_type_bytes(enum op_type type)
{
    static const size_t bytes[] = {sizeof(double), sizeof(float), sizeof(int), sizeof(char)};
    return (int64_t)bytes[type];
}

/* MPI_DOUBLE and so on need not be constants of C. */
static MPI_Datatype datatype_of(enum op_type type)
{
    return type == OP_DOUBLE  ? MPI_DOUBLE
           : type == OP_FLOAT ? MPI_FLOAT
           : type == OP_INT   ? MPI_INT
                              : MPI_UNSIGNED_CHAR;
}

static MPI_Op op_of(enum op_reduction reduction)
{
    return reduction == OP_BY_SUM ? MPI_SUM : reduction == OP_BY_MAX ? MPI_MAX : MPI_MIN;
}

static double element_in(const void *buffer, enum op_type type, int64_t i)
{
    switch (type) {
    case OP_DOUBLE:
        return ((const double *)buffer)[i];
    case OP_FLOAT:
        return (double)((const float *)buffer)[i];
    case OP_INT:
        return (double)((const int *)buffer)[i];
    default:
        return (double)((const unsigned char *)buffer)[i];
    }
}

static void set_element(void *buffer, enum op_type type, int64_t i, double value)
{
    switch (type) {
    case OP_DOUBLE:
        ((double *)buffer)[i] = value;
        break;
    case OP_FLOAT:
        ((float *)buffer)[i] = (float)value;
        break;
    case OP_INT:
        ((int *)buffer)[i] = (int)value;
        break;
    default:
        ((unsigned char *)buffer)[i] = (unsigned char)(int)value;
    }
}

/* ---- amounts --------------------------------------------------------------------------------- */

int64_t op_amount(const struct op_shape *shape, int rank)
{
    const int64_t parts = shape->ranks + 1;
    return (2 * shape->elements * (rank + 1) + parts - 1) / parts;
}

/* Whether blocks differ in size. */
static bool blocks_vary(const struct op_kind *kind)
{
    return kind->layout == OP_VARYING || kind->layout == OP_VARYING_BYTES;
}

/* Where element i is: in the block that goes to or from this rank, at this index. */
struct place {
    int rank;
    int64_t index;
};

static struct place place_of(const struct op_instance *operation, int64_t i)
{
    const int64_t elements = operation->shape.elements, *const starts = operation->counts.starts;
    if (!blocks_vary(operation->kind)) {
        const int block = (int)(i / elements);
        return (struct place){operation->kind->on_grid ? operation->neighbours[block] : block,
                              i % elements};
    }
    /* The last rank whose block starts at or before i. */
    int first = 0, last = operation->shape.ranks - 1;
    while (first < last) {
        const int middle = first + (last - first + 1) / 2;
        if (starts[middle] <= i)
            first = middle;
        else
            last = middle - 1;
    }
    return (struct place){first, i - starts[first]};
}

static int64_t all_amounts(const struct op_shape *shape)
{
    int64_t total = 0;
    for (int rank = 0; rank < shape->ranks; rank++)
        total += op_amount(shape, rank);
    return total;
}

int64_t op_elements(const struct op_buffer *buffer, const struct op_shape *shape)
{
    const int rank = shape->rank, half = shape->ranks / 2;
    const bool holds[] = {
        [OP_ON_ALL] = true,
        [OP_ON_ROOT] = rank == shape->root,
        [OP_ON_OTHERS] = rank != shape->root,
        [OP_ON_LOWER] = rank < half,
        [OP_ON_UPPER] = rank >= half && rank < 2 * half,
        [OP_ON_PAIRS] = rank < 2 * half,
    };
    if (!holds[buffer->holders])
        return 0;
    switch (buffer->extent) {
    case OP_BLOCK:
        return shape->elements;
    case OP_BLOCK_PER_RANK:
        return shape->elements * shape->ranks;
    case OP_BLOCK_PER_NEIGHBOUR:
        return shape->elements * OP_NEIGHBOURS;
    case OP_OWN_AMOUNT:
        return op_amount(shape, rank);
    case OP_OWN_AMOUNT_PER_RANK:
        return op_amount(shape, rank) * shape->ranks;
    case OP_ALL_AMOUNTS:
        return all_amounts(shape);
    default:
        return 0;
    }
}

/* What the values of a receiver's block differ by from those of the first one's. */
static double value_of_receiver(int to) { return 1e6 * (double)(to % OP_RECEIVERS); }

double op_value(int from, int to, int64_t i)
{
    return (double)(from + 1) * (double)(i % 1021 + 1) + value_of_receiver(to);
}

double op_value_sum(int ranks, int to, int64_t i)
{
    const double p = (double)ranks;
    return p * (p + 1.0) / 2.0 * (double)(i % 1021 + 1) + p * value_of_receiver(to);
}

/* Values of types that hold less. */
enum { SMALL_SENDERS = 7, SMALL_ELEMENTS = 13, SMALL_RECEIVERS = 29 };

static int64_t small_value(int from, int to, int64_t i)
{
    return (from % SMALL_SENDERS + 1) * (i % SMALL_ELEMENTS + 1) + to % SMALL_RECEIVERS;
}

static double value(const struct op_instance *operation, int from, int to, int64_t i)
{
    return operation->shape.type == OP_DOUBLE ? op_value(from, to, i)
                                              : (double)small_value(from, to, i);
}

/* Of the values of the ranks below `ranks`. */
static double small_sum(enum op_type type, int ranks, int to, int64_t i)
{
    const int64_t rounds = ranks / SMALL_SENDERS, rest = ranks % SMALL_SENDERS;
    const int64_t senders =
        rounds * SMALL_SENDERS * (SMALL_SENDERS + 1) / 2 + rest * (rest + 1) / 2;
    const int64_t sum =
        senders * (i % SMALL_ELEMENTS + 1) + (int64_t)ranks * (to % SMALL_RECEIVERS);
    return (double)(type == OP_CHAR ? sum % (UCHAR_MAX + 1) : sum);
}

/* What the values of the ranks below `ranks` are together: values grow with the rank, small ones as
   far as their period goes. */
static double reduced(const struct op_instance *operation, int ranks, int to, int64_t i)
{
    const enum op_type type = operation->shape.type;
    const int period = type == OP_DOUBLE || ranks < SMALL_SENDERS ? ranks : SMALL_SENDERS;
    if (operation->reduction == OP_BY_MAX)
        return value(operation, period - 1, to, i);
    if (operation->reduction == OP_BY_MIN)
        return value(operation, 0, to, i);
    return type == OP_DOUBLE ? op_value_sum(ranks, to, i) : small_sum(type, ranks, to, i);
}

double op_element(const struct op_instance *operation, enum op_values values, int64_t i)
{
    const struct op_shape *const shape = &operation->shape;
    const int me = shape->rank;
    const int64_t own = op_amount(shape, me);
    const struct place at = place_of(operation, i);
    switch (values) {
    case OP_TO_EACH:
        return value(operation, me, at.rank, at.index);
    case OP_AMOUNT_TO_EACH:
        return value(operation, me, (int)(i / own), i % own);
    case OP_FROM_ROOT:
        return value(operation, shape->root, 0, i);
    case OP_FROM_ROOT_TO_ME:
        return value(operation, shape->root, me, i);
    case OP_FROM_EACH:
        return value(operation, at.rank, 0, at.index);
    case OP_FROM_EACH_TO_ME:
        return value(operation, at.rank, me, at.index);
    case OP_BY_PARTNER:
        return value(operation, operation->partner, 0, i);
    case OP_SUM:
        return reduced(operation, shape->ranks, 0, i);
    case OP_SUM_TO_ME:
        return reduced(operation, shape->ranks, me, i);
    case OP_SUM_UP_TO_ME:
        return reduced(operation, me + 1, 0, i);
    case OP_SUM_BELOW_ME:
        return me == 0 ? NAN : reduced(operation, me, 0, i);
    default: /* OP_TO_ALL */
        return value(operation, me, 0, i);
    }
}

/* The elements of a buffer, and of both, on the rank that needs most. */
struct need {
    double either, both;
};

/* Rooted operations need most on the root, varying ones on the last rank; else rank 0 will do. */
static struct need max_need(const struct op_kind *kind, struct op_shape shape)
{
    const int ranks[] = {shape.root, 0, shape.ranks - 1};
    struct need max = {0.0, 0.0};
    if (kind->send.extent == OP_NO_BUFFER)
        return max;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        shape.rank = ranks[i];
        const double send = (double)op_elements(&kind->send, &shape);
        const double receive = (double)op_elements(&kind->receive, &shape);
        max.either = fmax(max.either, fmax(send, receive));
        max.both = fmax(max.both, send + receive);
    }
    return max;
}

double op_bytes(const struct op_kind *kind, const struct op_shape *shape)
{
    return (double)op_type_bytes(shape->type) * max_need(kind, *shape).both;
}

double op_size_bytes(const struct op_instance *operation)
{
    const struct op_shape *const shape = &operation->shape;
    const int64_t bytes = op_type_bytes(shape->type);
    if (!blocks_vary(operation->kind))
        return (double)(bytes * shape->elements);
    return (double)(bytes * all_amounts(shape)) / shape->ranks;
}

/* ---- the int and the MPI_Count variants ------------------------------------------------------ */

/* In w variants displacements are in bytes. */
static int64_t displacement_unit(const struct op_kind *kind, enum op_type type)
{
    return kind->layout == OP_VARYING_BYTES ? op_type_bytes(type) : 1;
}

/* Whether MPI_Get_library_version's text begins so; false for NULL. */
static bool is_library(const char *begin)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (begin == NULL)
        return false;
    BC_MPI(MPI_Get_library_version(version, &length));
    return strncmp(version, begin, strlen(begin)) == 0;
}

/* Blocks have int counts and displacements, and libraries add all of them up in an int. */
enum op_passing op_passing_of(const struct op_kind *kind, const struct op_shape *shape)
{
    const double largest =
        (double)displacement_unit(kind, shape->type) * max_need(kind, *shape).either;
    if (shape->elements > INT_MAX / op_type_bytes(shape->type) && is_library(kind->fails_large_in))
        return OP_BEYOND;
    if (shape->elements <= BC_COUNT_MAX && largest <= (double)BC_COUNT_MAX)
        return OP_AS_INTS;
    if (kind->layout == OP_EQUAL || kind->layout == OP_VARYING_BYTES)
        return OP_AS_TYPES;
    return kind->large.start != NULL ? OP_AS_LARGE : OP_BEYOND;
}

static void *allocate(int ranks, size_t size)
{
    return bc_allocate((size_t)ranks, size, "no memory for the counts of %d ranks", ranks);
}

static int64_t amount_of(const struct op_instance *operation, int rank)
{
    return blocks_vary(operation->kind) ? op_amount(&operation->shape, rank)
                                        : operation->shape.elements;
}

/* Makes block `rank` of these, of `amount` elements from `start` on. */
static void set_block(const struct op_instance *operation, enum op_passing passing,
                      const struct op_blocks *blocks, int rank, int64_t amount, int64_t start)
{
    const int64_t unit = displacement_unit(operation->kind, operation->shape.type);
    const int64_t displacement = start * unit;
    struct bc_amount typed = {.type = operation->type};
    blocks->types[rank] = operation->type;
    if (passing == OP_AS_INTS) {
        ((int *)blocks->amounts)[rank] = (int)amount;
        ((int *)blocks->displacements)[rank] = (int)displacement;
    } else if (passing == OP_AS_LARGE) {
        ((MPI_Count *)blocks->amounts)[rank] = (MPI_Count)amount;
        ((MPI_Aint *)blocks->displacements)[rank] = (MPI_Aint)displacement;
    } else {
        bc_amount_create_at(&typed, amount, operation->type, (MPI_Aint)displacement);
        ((int *)blocks->amounts)[rank] = typed.count;
        blocks->types[rank] = typed.type;
    }
}

/* Blocks of each rank's amount or, if `own`, all of this rank's. */
static void make_blocks(const struct op_instance *operation, enum op_passing passing, bool own,
                        struct op_blocks *blocks)
{
    const struct op_shape *const shape = &operation->shape;
    const bool varies = blocks_vary(operation->kind);
    int64_t start = 0;
    *blocks = (struct op_blocks){
        .amounts = allocate(shape->ranks, sizeof(MPI_Count)),
        .displacements = allocate(shape->ranks, sizeof(MPI_Aint)),
        .types = allocate(shape->ranks, sizeof *blocks->types),
    };
    for (int rank = 0; rank < shape->ranks; rank++) {
        const int64_t amount = amount_of(operation, own ? shape->rank : rank);
        set_block(operation, passing, blocks, rank, amount, start);
        if (!own && varies)
            operation->counts.starts[rank] = start;
        if (varies)
            start += amount;
    }
}

static void free_type(const struct op_instance *operation, MPI_Datatype type)
{
    if (type != operation->type)
        BC_MPI(MPI_Type_free(&type));
}

static void free_blocks(const struct op_instance *operation, struct op_blocks *blocks)
{
    for (int rank = 0; blocks->types != NULL && rank < operation->shape.ranks; rank++)
        free_type(operation, blocks->types[rank]);
    free(blocks->amounts);
    free(blocks->displacements);
    free(blocks->types);
}

static void make_counts(struct op_instance *operation, enum op_passing passing)
{
    const struct op_kind *const kind = operation->kind;
    const struct op_shape *const shape = &operation->shape;
    struct op_counts *const counts = &operation->counts;
    counts->count = amount_of(operation, shape->rank);
    counts->type = operation->type;
    if (passing == OP_AS_TYPES) {
        struct bc_amount typed;
        bc_amount_create_at(&typed, counts->count, operation->type, 0);
        counts->count = typed.count;
        counts->type = typed.type;
    }
    if (blocks_vary(kind))
        counts->starts = allocate(shape->ranks, sizeof *counts->starts);
    if (kind->layout != OP_EQUAL)
        make_blocks(operation, passing, false, &counts->by_rank);
    if (kind->send.extent == OP_OWN_AMOUNT_PER_RANK)
        make_blocks(operation, passing, true, &counts->own);
}

static void free_counts(struct op_instance *operation)
{
    struct op_counts *const counts = &operation->counts;
    free_type(operation, counts->type);
    free_blocks(operation, &counts->by_rank);
    free_blocks(operation, &counts->own);
    free(counts->starts);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* These are in the timed region. A request that a test has completed is not tested again: a program
   that sees the flag stops asking. */

static void test_one(struct op_instance *operation)
{
    if (!operation->complete)
        BC_MPI(MPI_Test(operation->requests, &operation->complete, MPI_STATUS_IGNORE));
}

static void test_all(struct op_instance *operation)
{
    if (!operation->complete)
        BC_MPI(MPI_Testall(operation->request_count, operation->requests, &operation->complete,
                           operation->statuses));
}

static void wait_for_one(struct op_instance *operation)
{
    BC_MPI(MPI_Wait(operation->requests, MPI_STATUS_IGNORE));
}

static void wait_for_all(struct op_instance *operation)
{
    BC_MPI(MPI_Waitall(operation->request_count, operation->requests, operation->statuses));
}

static void start_one(struct op_instance *operation) { BC_MPI(MPI_Start(operation->requests)); }

static void start_all(struct op_instance *operation)
{
    BC_MPI(MPI_Startall(operation->request_count, operation->requests));
}

bool op_has_persistent(const struct op_kind *kind)
{
    return kind->functions.persist != NULL && !is_library(kind->fails_persistent_in);
}

bool op_fails_in_place(const struct op_kind *kind) { return is_library(kind->fails_in_place_in); }

static void make_requests(struct op_instance *operation, op_call_fn *persist)
{
    if (operation->borrows_requests)
        return;
    const int most = operation->kind->requests > 0 ? operation->kind->requests : 1;
    operation->requests =
        bc_allocate((size_t)most, sizeof *operation->requests, "no memory for %d requests", most);
    for (int i = 0; i < most; i++)
        operation->requests[i] = MPI_REQUEST_NULL;
    operation->request_count = most;
    if (operation->form == OP_PERSISTENT && operation->works)
        persist(operation);
}

static void do_nothing(struct op_instance *operation) { (void)operation; }

/* After the requests, of which a kind may have made fewer than it posts at most. */
static void choose_calls(struct op_instance *operation, const struct op_functions *functions)
{
    const struct op_kind *const kind = operation->kind;
    const bool one = operation->request_count == 1;
    operation->start = functions->start;
    operation->between = one ? test_one : test_all;
    operation->finish = one ? wait_for_one : wait_for_all;
    operation->blocking = functions->blocking;
    if (operation->form == OP_PERSISTENT)
        operation->start = one ? start_one : start_all;
    if (operation->form == OP_BLOCKING_CALL) {
        operation->start = functions->blocking;
        operation->between = operation->finish = do_nothing;
    }
    if (kind->between != NULL)
        operation->between = kind->between;
    if (kind->finish != NULL)
        operation->finish = kind->finish;
}

static void free_requests(struct op_instance *operation)
{
    if (operation->borrows_requests)
        return;
    for (int i = 0; i < operation->request_count; i++)
        if (operation->requests[i] != MPI_REQUEST_NULL)
            BC_MPI(MPI_Request_free(&operation->requests[i]));
    free(operation->requests);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* The elements of a buffer of any root. */
static int64_t capacity(const struct op_buffer *buffer, const struct op_shape *shape, bool any_root)
{
    struct op_shape as_root = *shape, as_other = *shape;
    as_root.root = shape->rank;
    as_other.root = -1;
    if (!any_root)
        return op_elements(buffer, shape);
    const int64_t of_root = op_elements(buffer, &as_root);
    const int64_t of_other = op_elements(buffer, &as_other);
    return of_root > of_other ? of_root : of_other;
}

static void make_buffers(struct op_instance *operation, bool any_root)
{
    const struct op_kind *const kind = operation->kind;
    const struct op_shape *const shape = &operation->shape;
    const struct op_space *const space = &operation->space;
    if (kind->send.extent == OP_NO_BUFFER)
        return;
    const int64_t bytes = op_type_bytes(shape->type);
    const int64_t send_count = capacity(&kind->send, shape, any_root);
    int64_t receive_count = capacity(&kind->receive, shape, any_root);
    if (operation->in_place && receive_count < send_count)
        receive_count = send_count;
    bc_buffer_create(&operation->send_buffer, space->device, space->send,
                     (size_t)(send_count * bytes), true, "smaller sizes");
    bc_buffer_create(&operation->receive_buffer, space->device, space->receive,
                     (size_t)(receive_count * bytes), true, "smaller sizes");
    for (int64_t i = 0; i < send_count; i++)
        set_element(operation->send_buffer.image, shape->type, i,
                    op_element(operation, kind->send.values, i));
    bc_buffer_write(&operation->send_buffer, operation->send_buffer.bytes);
}

/* Whether this rank passes MPI_IN_PLACE. */
static bool is_in_place(const struct op_instance *operation)
{
    const struct op_kind *const kind = operation->kind;
    const bool is_root = operation->shape.rank == operation->shape.root;
    const bool is_rooted = kind->in_place == OP_ROOT_KEEPS || kind->receive.holders == OP_ON_ROOT;
    return operation->in_place && (is_root || !is_rooted);
}

/* The first element that this rank sends in place: of its block, or of all. */
static int64_t first_in_place(const struct op_instance *operation)
{
    const struct op_shape *const shape = &operation->shape;
    if (operation->kind->in_place == OP_WHOLE_IN_PLACE)
        return 0;
    return blocks_vary(operation->kind) ? operation->counts.starts[shape->rank]
                                        : shape->rank * shape->elements;
}

/* The bytes of the elements that a buffer has with the present root. */
static size_t bytes_in(const struct op_instance *operation, const struct op_buffer *buffer)
{
    return (size_t)(op_elements(buffer, &operation->shape) * op_type_bytes(operation->shape.type));
}

static void find_copies(struct op_instance *operation)
{
    const struct op_kind *const kind = operation->kind;
    const bool in_place = operation->send == MPI_IN_PLACE;
    const struct bc_buffer *const from =
        in_place ? &operation->receive_buffer : &operation->send_buffer;
    const struct bc_buffer *const to = &operation->receive_buffer;
    const int64_t first = in_place ? first_in_place(operation) : 0;
    operation->sent.start = (char *)from->start + first * op_type_bytes(operation->shape.type);
    operation->sent.bytes =
        bc_memory_needs_copy(from->memory) ? bytes_in(operation, &kind->send) : 0;
    operation->received.start = to->start;
    operation->received.bytes =
        bc_memory_needs_copy(to->memory) && operation->receive != MPI_IN_PLACE
            ? bytes_in(operation, &kind->receive)
            : 0;
}

void op_set_root(struct op_instance *operation, int root)
{
    operation->shape.root = root;
    const bool keeps = operation->kind->in_place == OP_ROOT_KEEPS;
    const bool in_place = is_in_place(operation);
    operation->send = in_place && !keeps ? MPI_IN_PLACE : operation->send_buffer.start;
    operation->receive = in_place && keeps ? MPI_IN_PLACE : operation->receive_buffer.start;
    if (operation->space.device != NULL)
        find_copies(operation);
}

void op_renew(struct op_instance *operation)
{
    /* A window's memory holds data on ranks that don't work. */
    if (operation->send_buffer.start == NULL ||
        (operation->kind->create != NULL && !operation->works))
        return;
    bc_buffer_renew(&operation->send_buffer);
    bc_buffer_renew(&operation->receive_buffer);
    op_set_root(operation, operation->shape.root);
}

/* Puts what this rank sends where it belongs in what the receive buffer is to hold. */
static void fill_in_place(struct op_instance *operation)
{
    memcpy((char *)operation->receive_buffer.image +
               first_in_place(operation) * op_type_bytes(operation->shape.type),
           operation->send_buffer.image, bytes_in(operation, &operation->kind->send));
}

void op_refill(struct op_instance *operation)
{
    if (operation->kind->in_place != OP_WHOLE_IN_PLACE || !is_in_place(operation))
        return;
    fill_in_place(operation);
    bc_buffer_write(&operation->receive_buffer, operation->receive_buffer.bytes);
}

static void free_buffers(struct op_instance *operation)
{
    if (operation->send_buffer.start == NULL)
        return;
    bc_buffer_destroy(&operation->send_buffer);
    bc_buffer_destroy(&operation->receive_buffer);
}

void op_copy_sent(const struct op_instance *to, const struct op_instance *from)
{
    if (from->sent.bytes > 0)
        bc_device_copy(from->space.device, to->sent.start, from->sent.start, from->sent.bytes);
}

void op_copy_received(const struct op_instance *to, const struct op_instance *from)
{
    if (to->received.bytes > 0)
        bc_device_copy(to->space.device, to->received.start, from->received.start,
                       to->received.bytes);
}

void op_poison(struct op_instance *operation)
{
    struct bc_buffer *const buffer = &operation->receive_buffer;
    if (operation->kind->prepare != NULL)
        operation->kind->prepare(operation);
    if (buffer->start == NULL)
        return;
    const int64_t count = op_elements(&operation->kind->receive, &operation->shape);
    for (int64_t i = 0; i < count; i++)
        set_element(buffer->image, operation->shape.type, i, -1.0);
    if (operation->kind->in_place != OP_ROOT_KEEPS && is_in_place(operation))
        fill_in_place(operation);
    bc_buffer_write(buffer, buffer->bytes);
    if (operation->kind->settle != NULL)
        operation->kind->settle(operation);
}

/* Whether `count` values are what the receive buffer must hold. A wrong bit makes another number:
   all expected ones are whole. */
static bool are_right(const struct op_instance *operation, const void *values, int64_t count)
{
    bool right = true;
    for (int64_t i = 0; i < count && right; i++) {
        const double expected = op_element(operation, operation->kind->receive.values, i);
        right = isnan(expected) || element_in(values, operation->shape.type, i) == expected;
    }
    return right;
}

bool op_verify(struct op_instance *operation)
{
    const struct op_kind *const kind = operation->kind;
    if (kind->settle != NULL)
        kind->settle(operation);
    if (kind->is_right != NULL)
        return kind->is_right(operation);
    if (operation->receive_buffer.start == NULL || operation->receive == MPI_IN_PLACE)
        return true;
    return bc_buffer_read(&operation->receive_buffer, bytes_in(operation, &kind->receive)) &&
           are_right(operation, operation->receive_buffer.image,
                     op_elements(&kind->receive, &operation->shape));
}

/* ---- the operation --------------------------------------------------------------------------- */

void op_create_grid(int ranks, int dims[BC_GRID_DIMENSIONS], MPI_Comm *comm)
{
    static const int periodic[BC_GRID_DIMENSIONS] = {1, 1, 1};
    for (int d = 0; d < BC_GRID_DIMENSIONS; d++)
        dims[d] = 0;
    BC_MPI(MPI_Dims_create(ranks, BC_GRID_DIMENSIONS, dims));
    BC_MPI(MPI_Cart_create(MPI_COMM_WORLD, BC_GRID_DIMENSIONS, dims, periodic, 0, comm));
}

void op_create(struct op_instance *operation, const struct op_kind *kind, const struct bc_job *job,
               const struct op_choice *choice)
{
    struct op_shape shape = {
        .root = choice->root, .elements = choice->elements, .type = choice->type};
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &shape.rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &shape.ranks));
    const enum op_passing passing = op_passing_of(kind, &shape);
    const struct op_functions *const functions =
        passing == OP_AS_LARGE ? &kind->large : &kind->functions;
    *operation = (struct op_instance){
        .kind = kind,
        .job = job,
        .shape = shape,
        .variant = choice->variant,
        .comm = MPI_COMM_WORLD,
        .works = true,
        .partner = MPI_PROC_NULL,
        .form = choice->form,
        .statuses = MPI_STATUSES_IGNORE,
        .type = datatype_of(choice->type),
        .op = op_of(choice->reduction),
        .reduction = choice->reduction,
        .in_place = choice->in_place,
    };
    if (choice->space != NULL)
        operation->space = *choice->space;
    make_counts(operation, passing);
    if (kind->on_grid) {
        op_create_grid(shape.ranks, operation->dims, &operation->comm);
        bc_grid_neighbours(operation->dims, shape.rank, operation->neighbours);
    }
    if (kind->place != NULL)
        kind->place(operation);
    make_buffers(operation, choice->any_root);
    op_set_root(operation, shape.root);
    if (kind->create != NULL)
        kind->create(operation);
    make_requests(operation, functions->persist);
    choose_calls(operation, functions);
}

void op_destroy(struct op_instance *operation)
{
    free_requests(operation);
    if (operation->kind->destroy != NULL)
        operation->kind->destroy(operation);
    if (operation->comm != MPI_COMM_WORLD)
        BC_MPI(MPI_Comm_free(&operation->comm));
    free_buffers(operation);
    free_counts(operation);
}
