/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that have a form with large counts, each by its name without MPI_. mpi.h includes
 * this twice, so there is no include guard: with STUB_COUNT, STUB_DISPLACEMENT and STUB_ADDRESS as
 * int, int and MPI_Aint, and for the forms that end in _c as MPI_Count, MPI_Aint and MPI_Count.
 */

/* Messages. */
#define STUB_SENDING                                                                               \
    const void *buf, STUB_COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm
#define STUB_RECEIVING                                                                             \
    void *buf, STUB_COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm
#define STUB_BOTH_WAYS                                                                             \
    const void *sendbuf, STUB_COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag,       \
        void *recvbuf, STUB_COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag,       \
        MPI_Comm comm
#define STUB_REPLACING                                                                             \
    void *buf, STUB_COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source,         \
        int recvtag, MPI_Comm comm
STUB_FUNCTION(Send, STUB_SENDING);
STUB_FUNCTION(Bsend, STUB_SENDING);
STUB_FUNCTION(Ssend, STUB_SENDING);
STUB_FUNCTION(Rsend, STUB_SENDING);
STUB_FUNCTION(Isend, STUB_SENDING, MPI_Request *request);
STUB_FUNCTION(Ibsend, STUB_SENDING, MPI_Request *request);
STUB_FUNCTION(Issend, STUB_SENDING, MPI_Request *request);
STUB_FUNCTION(Irsend, STUB_SENDING, MPI_Request *request);
STUB_FUNCTION(Send_init, STUB_SENDING, MPI_Request *request);
STUB_FUNCTION(Bsend_init, STUB_SENDING, MPI_Request *request);
STUB_FUNCTION(Ssend_init, STUB_SENDING, MPI_Request *request);
STUB_FUNCTION(Rsend_init, STUB_SENDING, MPI_Request *request);
STUB_FUNCTION(Recv, STUB_RECEIVING, MPI_Status *status);
STUB_FUNCTION(Irecv, STUB_RECEIVING, MPI_Request *request);
STUB_FUNCTION(Recv_init, STUB_RECEIVING, MPI_Request *request);
STUB_FUNCTION(Sendrecv, STUB_BOTH_WAYS, MPI_Status *status);
STUB_FUNCTION(Isendrecv, STUB_BOTH_WAYS, MPI_Request *request);
STUB_FUNCTION(Sendrecv_replace, STUB_REPLACING, MPI_Status *status);
STUB_FUNCTION(Isendrecv_replace, STUB_REPLACING, MPI_Request *request);
STUB_FUNCTION(Mrecv, void *buf, STUB_COUNT count, MPI_Datatype datatype, MPI_Message *message,
              MPI_Status *status);
STUB_FUNCTION(Imrecv, void *buf, STUB_COUNT count, MPI_Datatype datatype, MPI_Message *message,
              MPI_Request *request);
STUB_FUNCTION(Buffer_attach, void *buffer, STUB_COUNT size);
STUB_FUNCTION(Buffer_detach, void *buffer_addr, STUB_COUNT *size);
STUB_FUNCTION(Get_count, const MPI_Status *status, MPI_Datatype datatype, STUB_COUNT *count);
STUB_FUNCTION(Get_elements, const MPI_Status *status, MPI_Datatype datatype, STUB_COUNT *count);

/* Collective operations: blocking, non-blocking and persistent. */
#define STUB_COLLECTIVE(Name, Nonblocking, ...)                                                    \
    STUB_FUNCTION(Name, __VA_ARGS__, MPI_Comm comm);                                               \
    STUB_FUNCTION(Nonblocking, __VA_ARGS__, MPI_Comm comm, MPI_Request *request);                  \
    STUB_FUNCTION(Name##_init, __VA_ARGS__, MPI_Comm comm, MPI_Info info, MPI_Request *request)
#define STUB_BLOCKS                                                                                \
    const void *sendbuf, STUB_COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,               \
        STUB_COUNT recvcount, MPI_Datatype recvtype
#define STUB_GATHERED_BLOCKS                                                                       \
    const void *sendbuf, STUB_COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,               \
        const STUB_COUNT recvcounts[], const STUB_DISPLACEMENT displs[], MPI_Datatype recvtype
#define STUB_EXCHANGED_BLOCKS                                                                      \
    const void *sendbuf, const STUB_COUNT sendcounts[], const STUB_DISPLACEMENT sdispls[],         \
        MPI_Datatype sendtype, void *recvbuf, const STUB_COUNT recvcounts[],                       \
        const STUB_DISPLACEMENT rdispls[], MPI_Datatype recvtype
#define STUB_EXCHANGED_BLOCKS_OF_TYPES(Displacement)                                               \
    const void *sendbuf, const STUB_COUNT sendcounts[], const Displacement sdispls[],              \
        const MPI_Datatype sendtypes[], void *recvbuf, const STUB_COUNT recvcounts[],              \
        const Displacement rdispls[], const MPI_Datatype recvtypes[]
#define STUB_REDUCED                                                                               \
    const void *sendbuf, void *recvbuf, STUB_COUNT count, MPI_Datatype datatype, MPI_Op op
STUB_COLLECTIVE(Bcast, Ibcast, void *buffer, STUB_COUNT count, MPI_Datatype datatype, int root);
STUB_COLLECTIVE(Gather, Igather, STUB_BLOCKS, int root);
STUB_COLLECTIVE(Gatherv, Igatherv, STUB_GATHERED_BLOCKS, int root);
STUB_COLLECTIVE(Scatter, Iscatter, STUB_BLOCKS, int root);
STUB_COLLECTIVE(Scatterv, Iscatterv, const void *sendbuf, const STUB_COUNT sendcounts[],
                const STUB_DISPLACEMENT displs[], MPI_Datatype sendtype, void *recvbuf,
                STUB_COUNT recvcount, MPI_Datatype recvtype, int root);
STUB_COLLECTIVE(Allgather, Iallgather, STUB_BLOCKS);
STUB_COLLECTIVE(Allgatherv, Iallgatherv, STUB_GATHERED_BLOCKS);
STUB_COLLECTIVE(Alltoall, Ialltoall, STUB_BLOCKS);
STUB_COLLECTIVE(Alltoallv, Ialltoallv, STUB_EXCHANGED_BLOCKS);
STUB_COLLECTIVE(Alltoallw, Ialltoallw, STUB_EXCHANGED_BLOCKS_OF_TYPES(STUB_DISPLACEMENT));
STUB_COLLECTIVE(Reduce, Ireduce, STUB_REDUCED, int root);
STUB_COLLECTIVE(Allreduce, Iallreduce, STUB_REDUCED);
STUB_COLLECTIVE(Reduce_scatter, Ireduce_scatter, const void *sendbuf, void *recvbuf,
                const STUB_COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op);
STUB_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, STUB_REDUCED);
STUB_COLLECTIVE(Scan, Iscan, STUB_REDUCED);
STUB_COLLECTIVE(Exscan, Iexscan, STUB_REDUCED);
STUB_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, STUB_BLOCKS);
STUB_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, STUB_GATHERED_BLOCKS);
STUB_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, STUB_BLOCKS);
STUB_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, STUB_EXCHANGED_BLOCKS);
STUB_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, STUB_EXCHANGED_BLOCKS_OF_TYPES(MPI_Aint));
STUB_FUNCTION(Reduce_local, const void *inbuf, void *inoutbuf, STUB_COUNT count,
              MPI_Datatype datatype, MPI_Op op);

/* One-sided communication. */
#define STUB_MOVED(Buffer)                                                                         \
    Buffer origin_addr, STUB_COUNT origin_count, MPI_Datatype origin_datatype, int target_rank,    \
        MPI_Aint target_disp, STUB_COUNT target_count, MPI_Datatype target_datatype
#define STUB_FETCHED                                                                               \
    const void *origin_addr, STUB_COUNT origin_count, MPI_Datatype origin_datatype,                \
        void *result_addr, STUB_COUNT result_count, MPI_Datatype result_datatype, int target_rank, \
        MPI_Aint target_disp, STUB_COUNT target_count, MPI_Datatype target_datatype
STUB_FUNCTION(Put, STUB_MOVED(const void *), MPI_Win win);
STUB_FUNCTION(Get, STUB_MOVED(void *), MPI_Win win);
STUB_FUNCTION(Accumulate, STUB_MOVED(const void *), MPI_Op op, MPI_Win win);
STUB_FUNCTION(Get_accumulate, STUB_FETCHED, MPI_Op op, MPI_Win win);
STUB_FUNCTION(Rput, STUB_MOVED(const void *), MPI_Win win, MPI_Request *request);
STUB_FUNCTION(Rget, STUB_MOVED(void *), MPI_Win win, MPI_Request *request);
STUB_FUNCTION(Raccumulate, STUB_MOVED(const void *), MPI_Op op, MPI_Win win, MPI_Request *request);
STUB_FUNCTION(Rget_accumulate, STUB_FETCHED, MPI_Op op, MPI_Win win, MPI_Request *request);
STUB_FUNCTION(Win_create, void *base, MPI_Aint size, STUB_DISPLACEMENT disp_unit, MPI_Info info,
              MPI_Comm comm, MPI_Win *win);
STUB_FUNCTION(Win_allocate, MPI_Aint size, STUB_DISPLACEMENT disp_unit, MPI_Info info,
              MPI_Comm comm, void *baseptr, MPI_Win *win);
STUB_FUNCTION(Win_allocate_shared, MPI_Aint size, STUB_DISPLACEMENT disp_unit, MPI_Info info,
              MPI_Comm comm, void *baseptr, MPI_Win *win);
STUB_FUNCTION(Win_shared_query, MPI_Win win, int rank, MPI_Aint *size, STUB_DISPLACEMENT *disp_unit,
              void *baseptr);

/* Datatypes and packing. */
#define STUB_MADE MPI_Datatype oldtype, MPI_Datatype *newtype
STUB_FUNCTION(Type_contiguous, STUB_COUNT count, STUB_MADE);
STUB_FUNCTION(Type_vector, STUB_COUNT count, STUB_COUNT blocklength, STUB_COUNT stride, STUB_MADE);
STUB_FUNCTION(Type_create_hvector, STUB_COUNT count, STUB_COUNT blocklength, STUB_ADDRESS stride,
              STUB_MADE);
STUB_FUNCTION(Type_indexed, STUB_COUNT count, const STUB_COUNT blocklengths[],
              const STUB_COUNT displacements[], STUB_MADE);
STUB_FUNCTION(Type_create_hindexed, STUB_COUNT count, const STUB_COUNT blocklengths[],
              const STUB_ADDRESS displacements[], STUB_MADE);
STUB_FUNCTION(Type_create_indexed_block, STUB_COUNT count, STUB_COUNT blocklength,
              const STUB_COUNT displacements[], STUB_MADE);
STUB_FUNCTION(Type_create_hindexed_block, STUB_COUNT count, STUB_COUNT blocklength,
              const STUB_ADDRESS displacements[], STUB_MADE);
STUB_FUNCTION(Type_create_struct, STUB_COUNT count, const STUB_COUNT blocklengths[],
              const STUB_ADDRESS displacements[], const MPI_Datatype types[],
              MPI_Datatype *newtype);
STUB_FUNCTION(Type_create_subarray, int ndims, const STUB_COUNT sizes[],
              const STUB_COUNT subsizes[], const STUB_COUNT starts[], int order, STUB_MADE);
STUB_FUNCTION(Type_create_darray, int size, int rank, int ndims, const STUB_COUNT gsizes[],
              const int distribs[], const int dargs[], const int psizes[], int order, STUB_MADE);
STUB_FUNCTION(Type_create_resized, MPI_Datatype oldtype, STUB_ADDRESS lb, STUB_ADDRESS extent,
              MPI_Datatype *newtype);
STUB_FUNCTION(Type_size, MPI_Datatype datatype, STUB_COUNT *size);
STUB_FUNCTION(Type_get_extent, MPI_Datatype datatype, STUB_ADDRESS *lb, STUB_ADDRESS *extent);
STUB_FUNCTION(Type_get_true_extent, MPI_Datatype datatype, STUB_ADDRESS *true_lb,
              STUB_ADDRESS *true_extent);
STUB_FUNCTION(Pack, const void *inbuf, STUB_COUNT incount, MPI_Datatype datatype, void *outbuf,
              STUB_COUNT outsize, STUB_COUNT *position, MPI_Comm comm);
STUB_FUNCTION(Pack_size, STUB_COUNT incount, MPI_Datatype datatype, MPI_Comm comm,
              STUB_COUNT *size);
STUB_FUNCTION(Pack_external, const char datarep[], const void *inbuf, STUB_COUNT incount,
              MPI_Datatype datatype, void *outbuf, STUB_ADDRESS outsize, STUB_ADDRESS *position);
STUB_FUNCTION(Pack_external_size, const char datarep[], STUB_COUNT incount, MPI_Datatype datatype,
              STUB_ADDRESS *size);
STUB_FUNCTION(Unpack, const void *inbuf, STUB_COUNT insize, STUB_COUNT *position, void *outbuf,
              STUB_COUNT outcount, MPI_Datatype datatype, MPI_Comm comm);
STUB_FUNCTION(Unpack_external, const char datarep[], const void *inbuf, STUB_ADDRESS insize,
              STUB_ADDRESS *position, void *outbuf, STUB_COUNT outcount, MPI_Datatype datatype);

/* Files. */
#define STUB_INTO void *buf, STUB_COUNT count, MPI_Datatype datatype
#define STUB_FROM const void *buf, STUB_COUNT count, MPI_Datatype datatype
STUB_FUNCTION(File_get_type_extent, MPI_File fh, MPI_Datatype datatype, STUB_ADDRESS *extent);
STUB_FUNCTION(File_read, MPI_File fh, STUB_INTO, MPI_Status *status);
STUB_FUNCTION(File_read_all, MPI_File fh, STUB_INTO, MPI_Status *status);
STUB_FUNCTION(File_read_all_begin, MPI_File fh, STUB_INTO);
STUB_FUNCTION(File_read_at, MPI_File fh, MPI_Offset offset, STUB_INTO, MPI_Status *status);
STUB_FUNCTION(File_read_at_all, MPI_File fh, MPI_Offset offset, STUB_INTO, MPI_Status *status);
STUB_FUNCTION(File_read_at_all_begin, MPI_File fh, MPI_Offset offset, STUB_INTO);
STUB_FUNCTION(File_read_ordered, MPI_File fh, STUB_INTO, MPI_Status *status);
STUB_FUNCTION(File_read_ordered_begin, MPI_File fh, STUB_INTO);
STUB_FUNCTION(File_read_shared, MPI_File fh, STUB_INTO, MPI_Status *status);
STUB_FUNCTION(File_iread, MPI_File fh, STUB_INTO, MPI_Request *request);
STUB_FUNCTION(File_iread_all, MPI_File fh, STUB_INTO, MPI_Request *request);
STUB_FUNCTION(File_iread_at, MPI_File fh, MPI_Offset offset, STUB_INTO, MPI_Request *request);
STUB_FUNCTION(File_iread_at_all, MPI_File fh, MPI_Offset offset, STUB_INTO, MPI_Request *request);
STUB_FUNCTION(File_iread_shared, MPI_File fh, STUB_INTO, MPI_Request *request);
STUB_FUNCTION(File_write, MPI_File fh, STUB_FROM, MPI_Status *status);
STUB_FUNCTION(File_write_all, MPI_File fh, STUB_FROM, MPI_Status *status);
STUB_FUNCTION(File_write_all_begin, MPI_File fh, STUB_FROM);
STUB_FUNCTION(File_write_at, MPI_File fh, MPI_Offset offset, STUB_FROM, MPI_Status *status);
STUB_FUNCTION(File_write_at_all, MPI_File fh, MPI_Offset offset, STUB_FROM, MPI_Status *status);
STUB_FUNCTION(File_write_at_all_begin, MPI_File fh, MPI_Offset offset, STUB_FROM);
STUB_FUNCTION(File_write_ordered, MPI_File fh, STUB_FROM, MPI_Status *status);
STUB_FUNCTION(File_write_ordered_begin, MPI_File fh, STUB_FROM);
STUB_FUNCTION(File_write_shared, MPI_File fh, STUB_FROM, MPI_Status *status);
STUB_FUNCTION(File_iwrite, MPI_File fh, STUB_FROM, MPI_Request *request);
STUB_FUNCTION(File_iwrite_all, MPI_File fh, STUB_FROM, MPI_Request *request);
STUB_FUNCTION(File_iwrite_at, MPI_File fh, MPI_Offset offset, STUB_FROM, MPI_Request *request);
STUB_FUNCTION(File_iwrite_at_all, MPI_File fh, MPI_Offset offset, STUB_FROM, MPI_Request *request);
STUB_FUNCTION(File_iwrite_shared, MPI_File fh, STUB_FROM, MPI_Request *request);

#undef STUB_SENDING
#undef STUB_RECEIVING
#undef STUB_BOTH_WAYS
#undef STUB_REPLACING
#undef STUB_COLLECTIVE
#undef STUB_BLOCKS
#undef STUB_GATHERED_BLOCKS
#undef STUB_EXCHANGED_BLOCKS
#undef STUB_EXCHANGED_BLOCKS_OF_TYPES
#undef STUB_REDUCED
#undef STUB_MOVED
#undef STUB_FETCHED
#undef STUB_MADE
#undef STUB_INTO
#undef STUB_FROM
