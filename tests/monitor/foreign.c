/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of other people, with calls that a monitor may not see, or must not disturb. On 2 ranks;
 * rank 0 prints the findings.
 *
 *   foreign bcast            broadcasts 72 bytes as the first message; prints whether they arrive
 *   foreign communicators N  makes up to N communicators and keeps them; prints how many
 *   foreign windows N        makes N windows at a time
 *   foreign around           starts and ends MPI around the monitor, as Fortran's mpi_f08 does
 *   foreign end_around       ends MPI around it
 *   foreign session          uses MPI by a session only; "none" where there are none
 *   foreign none             ends without MPI
 *   foreign switch S         3 barriers; switches monitors off, 5 barriers, S seconds; on, 7 more
 *   foreign null             calls on null handles, which fail
 *   foreign freed            frees around monitors what was made while they were off
 *   foreign abort WHERE      an error on a communicator: world, self, dup, split or inter
 *   foreign files N          writes and reads N parts of 1000 bytes in each of several ways
 *   foreign fork             a child process ends while its parent is in MPI
 *   foreign exit             ends without MPI_Finalize
 *   foreign spawn            starts a job of one process, which runs `foreign switch 0`
 *   foreign alone N          N barriers on N communicators of one process each, and one with others
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

static void say(const char *what, int number)
{
    if (rank == 0)
        (void)printf("%s %d\n", what, number);
}

static void bcast(const char *unused)
{
    unsigned char bytes[72];
    int right = 1, both;
    (void)unused;
    memset(bytes, rank == 0 ? 0x5a : 0, sizeof bytes);
    MPI_Bcast(bytes, sizeof bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof bytes; i++)
        right = right && bytes[i] == 0x5a;
    MPI_Reduce(&right, &both, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    say("right", both);
}

static void communicators(const char *count)
{
    const int wanted = (int)strtol(count, NULL, 10);
    int made = 0;
    MPI_Comm comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (made < wanted && MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS)
        made++;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    say("made", made);
}

static void windows(const char *count)
{
    enum { MAX = 1000 };
    static MPI_Win made[MAX];
    static int memory;
    const int wanted = (int)strtol(count, NULL, 10);
    for (int i = 0; i < wanted && i < MAX; i++)
        MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &made[i]);
    for (int i = 0; i < wanted && i < MAX; i++)
        MPI_Win_free(&made[i]);
}

static void barriers(int count)
{
    for (int i = 0; i < count; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void switch_off_and_on(const char *seconds)
{
    barriers(3);
    MPI_Pcontrol(0);
    barriers(5);
    const double end_s = MPI_Wtime() + strtod(seconds, NULL);
    while (MPI_Wtime() < end_s)
        ;
    MPI_Pcontrol(1);
    barriers(7);
}

static void null_handles(const char *unused)
{
    MPI_Win win = MPI_WIN_NULL;
    int failed = 0;
    (void)unused;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    failed += MPI_Barrier(MPI_COMM_NULL) != MPI_SUCCESS;
    failed += MPI_Send(&failed, 1, MPI_INT, 0, 0, MPI_COMM_NULL) != MPI_SUCCESS;
    failed += MPI_Win_fence(0, win) != MPI_SUCCESS;
    failed += MPI_Win_flush_all(win) != MPI_SUCCESS;
    say("failed", failed);
}

static void freed_around(const char *unused)
{
    MPI_Comm comms[2];
    (void)unused;
    MPI_Pcontrol(0);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    PMPI_Comm_free(&comms[0]);
    PMPI_Comm_disconnect(&comms[1]);
    MPI_Pcontrol(1);
    barriers(7);
}

static void alone(const char *count)
{
    const int wanted = (int)strtol(count, NULL, 10);
    for (int i = 0; i < wanted; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Barrier(comm);
    }
    barriers(1);
}

/* A message to a rank that isn't there. MPI's text names the communicator by its name or handle. */
static void abort_on(const char *where)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    if (strcmp(where, "self") == 0)
        comm = MPI_COMM_SELF;
    if (strcmp(where, "dup") == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (strcmp(where, "split") == 0)
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    if (strcmp(where, "inter") == 0)
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &comm);
    MPI_Comm_set_name(comm, where);
    say("handle", (int)MPI_Comm_c2f(comm));
    (void)fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_CHAR, 99, 0, comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void files(const char *count)
{
    enum { BYTES = 1000 };
    static int data[BYTES / sizeof(int)];
    const int times = (int)strtol(count, NULL, 10), elements = BYTES / sizeof(int);
    const MPI_Offset at = (MPI_Offset)rank * BYTES;
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    MPI_File_open(MPI_COMM_WORLD, "foreign.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &file);
    for (int i = 0; i < times; i++) {
        MPI_File_write_at_all(file, at, data, elements, MPI_INT, &status);
        MPI_File_iwrite_at(file, at, data, elements, MPI_INT, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_File_seek(file, at, MPI_SEEK_SET);
        MPI_File_read(file, data, BYTES, MPI_BYTE, &status);
        MPI_File_read_at_all_begin(file, at, data, BYTES, MPI_BYTE);
        MPI_File_read_at_all_end(file, data, &status);
        MPI_File_sync(file);
    }
    MPI_File_close(&file);
    if (rank == 0)
        MPI_File_delete("foreign.data", MPI_INFO_NULL);
}

static void fork_child(const char *unused)
{
    int status = 1;
    (void)unused;
    barriers(3);
    const pid_t child = fork();
    if (child == 0)
        exit(0); /* with its destructors */
    (void)waitpid(child, &status, 0);
    barriers(4);
    say("child", status);
}

static void exit_early(const char *unused)
{
    (void)unused;
    barriers(3);
    exit(0);
}

static void spawn(const char *program)
{
    MPI_Comm child;
    char *arguments[] = {(char[]){"switch"}, (char[]){"0"}, NULL};
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_free(&child);
    barriers(7);
}

static void session(void)
{
#if MPI_VERSION >= 4
    MPI_Session own;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &own);
    MPI_Group_from_session_pset(own, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "foreign", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&own);
#else
    (void)printf("none\n");
#endif
}

static int run_program(const char *name, const char *argument)
{
    static const struct {
        const char *name;
        void (*run)(const char *argument);
    } programs[] = {{"bcast", bcast},       {"communicators", communicators},
                    {"windows", windows},   {"switch", switch_off_and_on},
                    {"null", null_handles}, {"freed", freed_around},
                    {"alone", alone},       {"end_around", NULL},
                    {"abort", abort_on},    {"files", files},
                    {"fork", fork_child},   {"exit", exit_early},
                    {"spawn", spawn}};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(name, programs[i].name) != 0)
            continue;
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (programs[i].run == NULL)
            return PMPI_Finalize();
        programs[i].run(argument);
        return MPI_Finalize();
    }
    return 2;
}

int main(int argc, char **argv)
{
    const char *const name = argc > 1 ? argv[1] : "none";
    if (strcmp(name, "none") == 0)
        return 0;
    if (strcmp(name, "around") == 0)
        return PMPI_Init(&argc, &argv) != MPI_SUCCESS || PMPI_Finalize() != MPI_SUCCESS;
    if (strcmp(name, "session") == 0) {
        session();
        return 0;
    }
    return run_program(name, argc > 2 ? argv[2] : "");
}
