/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI that only compiles: what the MPI standard promises to C programs, and no more. It's no
 * library's: written from the standard's text (MPI 5.0), for stub_mpi.py, which compiles all
 * sources with it. What compiles with it doesn't rely on what is so in MPICH or Open MPI alone:
 *
 * - Handles are pointers to types of their own: none is an integer, or passes for one of another
 *   kind.
 * - Constants are variables: they can't initialise static variables or be labels of a switch. The
 *   standard allows the first (section 2.5.4: constants are known when a program is linked), but in
 *   some libraries, such as layers that translate calls to another library's, they are variables.
 *   Compile-time constants are those that the standard lists: lengths, and the version.
 * - MPI_Aint, MPI_Count and MPI_Offset are long long, so that a pointer to, or a format of, another
 *   integer type is an error. The named members of MPI_Status come last.
 * - What MPI 3.0 removed and MPI 4.0 and 4.1 deprecate is not declared.
 *
 * It declares what this project's sources use, and what the monitor wraps: add what a new source
 * needs, as the standard declares it.
 */
#ifndef COMMCOST_STUB_MPI_H
#define COMMCOST_STUB_MPI_H

/* ---- compile-time constants ------------------------------------------------------------------ */

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0
/* No lengths of a library that there is. */
#define MPI_MAX_PROCESSOR_NAME 311
#define MPI_MAX_OBJECT_NAME 129
#define MPI_MAX_LIBRARY_VERSION_STRING 3137
#define MPI_MAX_ERROR_STRING 313
#define MPI_BSEND_OVERHEAD 97

/* ---- types ----------------------------------------------------------------------------------- */

typedef struct stub_comm *MPI_Comm;
typedef struct stub_datatype *MPI_Datatype;
typedef struct stub_errhandler *MPI_Errhandler;
typedef struct stub_file *MPI_File;
typedef struct stub_group *MPI_Group;
typedef struct stub_info *MPI_Info;
typedef struct stub_message *MPI_Message;
typedef struct stub_op *MPI_Op;
typedef struct stub_request *MPI_Request;
typedef struct stub_session *MPI_Session;
typedef struct stub_win *MPI_Win;
typedef struct stub_t_enum *MPI_T_enum;
typedef struct stub_t_pvar_handle *MPI_T_pvar_handle;
typedef struct stub_t_pvar_session *MPI_T_pvar_session;

typedef long long MPI_Aint;
typedef int MPI_Fint;
typedef long long MPI_Count;
typedef long long MPI_Offset;

typedef struct MPI_Status {
    long long stub_internal[3];
    int MPI_ERROR;
    int MPI_TAG;
    int MPI_SOURCE;
} MPI_Status;

typedef void MPI_User_function(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);
typedef void MPI_User_function_c(void *invec, void *inoutvec, MPI_Count *len,
                                 MPI_Datatype *datatype);
typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *error_code, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *error_code, ...);
typedef void MPI_File_errhandler_function(MPI_File *file, int *error_code, ...);
typedef int MPI_Comm_copy_attr_function(MPI_Comm oldcomm, int comm_keyval, void *extra_state,
                                        void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int comm_keyval, void *attribute_val,
                                          void *extra_state);
typedef int MPI_Win_copy_attr_function(MPI_Win oldwin, int win_keyval, void *extra_state,
                                       void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int win_keyval, void *attribute_val,
                                         void *extra_state);
typedef int MPI_Type_copy_attr_function(MPI_Datatype oldtype, int type_keyval, void *extra_state,
                                        void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype, int type_keyval,
                                          void *attribute_val, void *extra_state);
typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);
typedef int MPI_Datarep_extent_function(MPI_Datatype datatype, MPI_Aint *extent, void *extra_state);
typedef int MPI_Datarep_conversion_function(void *userbuf, MPI_Datatype datatype, int count,
                                            void *filebuf, MPI_Offset position, void *extra_state);
typedef int MPI_Datarep_conversion_function_c(void *userbuf, MPI_Datatype datatype, MPI_Count count,
                                              void *filebuf, MPI_Offset position,
                                              void *extra_state);

/* ---- other constants ------------------------------------------------------------------------- */

extern const MPI_Comm MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD;
extern const MPI_Datatype MPI_DATATYPE_NULL, MPI_BYTE, MPI_CHAR, MPI_INT, MPI_UNSIGNED, MPI_LONG,
    MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_DOUBLE, MPI_INT32_T, MPI_INT64_T, MPI_UINT64_T,
    MPI_COUNT, MPI_DOUBLE_INT, MPI_FLOAT, MPI_UNSIGNED_CHAR, MPI_INTEGER, MPI_REAL,
    MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_LOGICAL, MPI_CHARACTER,
    MPI_C_DOUBLE_COMPLEX, MPI_PACKED;
extern const MPI_Errhandler MPI_ERRHANDLER_NULL, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN;
extern const MPI_Group MPI_GROUP_EMPTY, MPI_GROUP_NULL;
extern const MPI_Info MPI_INFO_NULL;
extern const MPI_Message MPI_MESSAGE_NULL;
extern const MPI_Op MPI_OP_NULL, MPI_MAX, MPI_MIN, MPI_SUM, MPI_BOR, MPI_MAXLOC, MPI_MINLOC,
    MPI_REPLACE, MPI_NO_OP;
extern const MPI_Request MPI_REQUEST_NULL;
extern const MPI_Win MPI_WIN_NULL;
extern const MPI_File MPI_FILE_NULL;
extern const int MPI_SUCCESS, MPI_ERR_IN_STATUS, MPI_ERR_RANK, MPI_ERR_WIN, MPI_UNDEFINED,
    MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_ROOT, MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
    MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE, MPI_COMM_TYPE_SHARED, MPI_CART, MPI_GRAPH,
    MPI_DIST_GRAPH, MPI_ORDER_C, MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED, MPI_MODE_NOCHECK,
    MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED, MPI_MODE_CREATE, MPI_MODE_RDWR, MPI_MODE_WRONLY,
    MPI_SEEK_SET, MPI_WIN_MODEL, MPI_WIN_UNIFIED, MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_INVALID_INDEX,
    MPI_T_ERR_NOT_INITIALIZED, MPI_T_BIND_NO_OBJECT, MPI_T_BIND_MPI_COMM, MPI_T_PVAR_CLASS_LEVEL,
    MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_PVAR_CLASS_TIMER,
    MPI_T_PVAR_CLASS_SIZE, MPI_COMBINER_NAMED, MPI_COMBINER_F90_REAL, MPI_COMBINER_F90_COMPLEX,
    MPI_COMBINER_F90_INTEGER, MPI_IDENT, MPI_UNEQUAL;
extern MPI_Status *const MPI_STATUS_IGNORE, *const MPI_STATUSES_IGNORE;
extern void *const MPI_IN_PLACE;
extern char **const MPI_ARGV_NULL;
extern int *const MPI_ERRCODES_IGNORE;
extern MPI_Comm_copy_attr_function *const MPI_COMM_NULL_COPY_FN;
extern MPI_Type_copy_attr_function *const MPI_TYPE_NULL_COPY_FN;
extern MPI_Win_copy_attr_function *const MPI_WIN_NULL_COPY_FN;

/* ---- functions ------------------------------------------------------------------------------- */

double MPI_Wtime(void);
double PMPI_Wtime(void);
double MPI_Wtick(void);
double PMPI_Wtick(void);
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp);
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp);
MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2);
MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2);

#define STUB_COUNT int
#define STUB_DISPLACEMENT int
#define STUB_ADDRESS MPI_Aint
#define STUB_FUNCTION(Name, ...)                                                                   \
    int MPI_##Name(__VA_ARGS__);                                                                   \
    int PMPI_##Name(__VA_ARGS__)
#include "counted.h"
#undef STUB_COUNT
#undef STUB_DISPLACEMENT
#undef STUB_ADDRESS
#undef STUB_FUNCTION

#define STUB_COUNT MPI_Count
#define STUB_DISPLACEMENT MPI_Aint
#define STUB_ADDRESS MPI_Count
#define STUB_FUNCTION(Name, ...)                                                                   \
    int MPI_##Name##_c(__VA_ARGS__);                                                               \
    int PMPI_##Name##_c(__VA_ARGS__)
#include "counted.h"
#undef STUB_COUNT
#undef STUB_DISPLACEMENT
#undef STUB_ADDRESS
#undef STUB_FUNCTION

#define STUB_FUNCTION(Name, ...)                                                                   \
    int MPI_##Name(__VA_ARGS__);                                                                   \
    int PMPI_##Name(__VA_ARGS__)

/* Beginning and end, and what there is. */
STUB_FUNCTION(Init, int *argc, char ***argv);
STUB_FUNCTION(Init_thread, int *argc, char ***argv, int required, int *provided);
STUB_FUNCTION(Initialized, int *flag);
STUB_FUNCTION(Finalize, void);
STUB_FUNCTION(Session_init, MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session);
STUB_FUNCTION(Session_finalize, MPI_Session *session);
STUB_FUNCTION(Group_from_session_pset, MPI_Session session, const char *pset_name,
              MPI_Group *newgroup);
STUB_FUNCTION(Abort, MPI_Comm comm, int errorcode);
int MPI_Pcontrol(int level, ...);
int PMPI_Pcontrol(int level, ...);
STUB_FUNCTION(Finalized, int *flag);
STUB_FUNCTION(Query_thread, int *provided);
STUB_FUNCTION(Is_thread_main, int *flag);
STUB_FUNCTION(Get_version, int *version, int *subversion);
STUB_FUNCTION(Get_library_version, char *version, int *resultlen);
STUB_FUNCTION(Get_processor_name, char *name, int *resultlen);

/* Messages. */
STUB_FUNCTION(Probe, int source, int tag, MPI_Comm comm, MPI_Status *status);
STUB_FUNCTION(Iprobe, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
STUB_FUNCTION(Mprobe, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
STUB_FUNCTION(Improbe, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
              MPI_Status *status);
STUB_FUNCTION(Psend_init, const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
              int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request);
STUB_FUNCTION(Precv_init, void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
              int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request);
STUB_FUNCTION(Pready, int partition, MPI_Request request);
STUB_FUNCTION(Pready_range, int partition_low, int partition_high, MPI_Request request);
STUB_FUNCTION(Pready_list, int length, const int array_of_partitions[], MPI_Request request);
STUB_FUNCTION(Parrived, MPI_Request request, int partition, int *flag);

/* Requests. */
STUB_FUNCTION(Wait, MPI_Request *request, MPI_Status *status);
STUB_FUNCTION(Waitall, int count, MPI_Request requests[], MPI_Status statuses[]);
STUB_FUNCTION(Waitany, int count, MPI_Request requests[], int *index, MPI_Status *status);
STUB_FUNCTION(Waitsome, int incount, MPI_Request requests[], int *outcount, int indices[],
              MPI_Status statuses[]);
STUB_FUNCTION(Test, MPI_Request *request, int *flag, MPI_Status *status);
STUB_FUNCTION(Testall, int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);
STUB_FUNCTION(Testany, int count, MPI_Request requests[], int *index, int *flag,
              MPI_Status *status);
STUB_FUNCTION(Testsome, int incount, MPI_Request requests[], int *outcount, int indices[],
              MPI_Status statuses[]);
STUB_FUNCTION(Start, MPI_Request *request);
STUB_FUNCTION(Startall, int count, MPI_Request requests[]);
STUB_FUNCTION(Cancel, MPI_Request *request);
STUB_FUNCTION(Request_free, MPI_Request *request);
STUB_FUNCTION(Request_get_status, MPI_Request request, int *flag, MPI_Status *status);
STUB_FUNCTION(Test_cancelled, const MPI_Status *status, int *flag);
STUB_FUNCTION(Status_set_cancelled, MPI_Status *status, int flag);
STUB_FUNCTION(Status_set_elements, MPI_Status *status, MPI_Datatype datatype, int count);
STUB_FUNCTION(Status_set_elements_c, MPI_Status *status, MPI_Datatype datatype, MPI_Count count);
STUB_FUNCTION(Grequest_start, MPI_Grequest_query_function *query_fn,
              MPI_Grequest_free_function *free_fn, MPI_Grequest_cancel_function *cancel_fn,
              void *extra_state, MPI_Request *request);
STUB_FUNCTION(Grequest_complete, MPI_Request request);

/* Communicators and groups. */
STUB_FUNCTION(Barrier, MPI_Comm comm);
STUB_FUNCTION(Ibarrier, MPI_Comm comm, MPI_Request *request);
STUB_FUNCTION(Barrier_init, MPI_Comm comm, MPI_Info info, MPI_Request *request);
STUB_FUNCTION(Comm_dup, MPI_Comm comm, MPI_Comm *newcomm);
/* Fortran's handles and statuses. */
#define STUB_HANDLE(Type, Name)                                                                    \
    MPI_##Type MPI_##Name##_f2c(MPI_Fint handle);                                                  \
    MPI_##Type PMPI_##Name##_f2c(MPI_Fint handle);                                                 \
    MPI_Fint MPI_##Name##_c2f(MPI_##Type handle);                                                  \
    MPI_Fint PMPI_##Name##_c2f(MPI_##Type handle)
STUB_HANDLE(Comm, Comm);
STUB_HANDLE(Datatype, Type);
STUB_HANDLE(Errhandler, Errhandler);
STUB_HANDLE(File, File);
STUB_HANDLE(Group, Group);
STUB_HANDLE(Info, Info);
STUB_HANDLE(Message, Message);
STUB_HANDLE(Op, Op);
STUB_HANDLE(Request, Request);
STUB_HANDLE(Win, Win);
STUB_FUNCTION(Status_f2c, const MPI_Fint *f_status, MPI_Status *c_status);
STUB_FUNCTION(Status_c2f, const MPI_Status *c_status, MPI_Fint *f_status);
extern MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
int MPI_Comm_c2f(MPI_Comm comm);
STUB_FUNCTION(Comm_dup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm);
STUB_FUNCTION(Comm_idup, MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
STUB_FUNCTION(Comm_idup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
              MPI_Request *request);
STUB_FUNCTION(Comm_create, MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm);
STUB_FUNCTION(Comm_create_group, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm);
STUB_FUNCTION(Comm_create_from_group, MPI_Group group, const char *stringtag, MPI_Info info,
              MPI_Errhandler errhandler, MPI_Comm *newcomm);
STUB_FUNCTION(Comm_split, MPI_Comm comm, int color, int key, MPI_Comm *newcomm);
STUB_FUNCTION(Comm_split_type, MPI_Comm comm, int split_type, int key, MPI_Info info,
              MPI_Comm *newcomm);
STUB_FUNCTION(Comm_free, MPI_Comm *comm);
STUB_FUNCTION(Comm_disconnect, MPI_Comm *comm);
STUB_FUNCTION(Comm_set_name, MPI_Comm comm, const char *comm_name);
STUB_FUNCTION(Intercomm_create, MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
              int remote_leader, int tag, MPI_Comm *newintercomm);
STUB_FUNCTION(Intercomm_create_from_groups, MPI_Group local_group, int local_leader,
              MPI_Group remote_group, int remote_leader, const char *stringtag, MPI_Info info,
              MPI_Errhandler errhandler, MPI_Comm *newintercomm);
STUB_FUNCTION(Intercomm_merge, MPI_Comm intercomm, int high, MPI_Comm *newintracomm);
STUB_FUNCTION(Comm_spawn, const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
              MPI_Comm comm, MPI_Comm *intercomm, int errcodes[]);
STUB_FUNCTION(Comm_spawn_multiple, int count, char *commands[], char **argvs[],
              const int maxprocs[], const MPI_Info infos[], int root, MPI_Comm comm,
              MPI_Comm *intercomm, int errcodes[]);
STUB_FUNCTION(Comm_accept, const char *port_name, MPI_Info info, int root, MPI_Comm comm,
              MPI_Comm *newcomm);
STUB_FUNCTION(Comm_connect, const char *port_name, MPI_Info info, int root, MPI_Comm comm,
              MPI_Comm *newcomm);
STUB_FUNCTION(Comm_call_errhandler, MPI_Comm comm, int errorcode);
STUB_FUNCTION(Comm_compare, MPI_Comm comm1, MPI_Comm comm2, int *result);
STUB_FUNCTION(Comm_create_errhandler, MPI_Comm_errhandler_function *comm_errhandler_fn,
              MPI_Errhandler *errhandler);
STUB_FUNCTION(Comm_create_keyval, MPI_Comm_copy_attr_function *comm_copy_attr_fn,
              MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
              void *extra_state);
STUB_FUNCTION(Comm_delete_attr, MPI_Comm comm, int comm_keyval);
STUB_FUNCTION(Comm_free_keyval, int *comm_keyval);
STUB_FUNCTION(Comm_get_attr, MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag);
STUB_FUNCTION(Comm_get_errhandler, MPI_Comm comm, MPI_Errhandler *errhandler);
STUB_FUNCTION(Comm_get_info, MPI_Comm comm, MPI_Info *info_used);
STUB_FUNCTION(Comm_get_name, MPI_Comm comm, char *comm_name, int *resultlen);
STUB_FUNCTION(Comm_get_parent, MPI_Comm *parent);
STUB_FUNCTION(Comm_group, MPI_Comm comm, MPI_Group *group);
STUB_FUNCTION(Comm_join, int fd, MPI_Comm *intercomm);
STUB_FUNCTION(Comm_rank, MPI_Comm comm, int *rank);
STUB_FUNCTION(Comm_remote_group, MPI_Comm comm, MPI_Group *group);
STUB_FUNCTION(Comm_remote_size, MPI_Comm comm, int *size);
STUB_FUNCTION(Comm_set_attr, MPI_Comm comm, int comm_keyval, void *attribute_val);
STUB_FUNCTION(Comm_set_errhandler, MPI_Comm comm, MPI_Errhandler errhandler);
STUB_FUNCTION(Comm_set_info, MPI_Comm comm, MPI_Info info);
STUB_FUNCTION(Comm_size, MPI_Comm comm, int *size);
STUB_FUNCTION(Comm_test_inter, MPI_Comm comm, int *flag);
STUB_FUNCTION(Group_compare, MPI_Group group1, MPI_Group group2, int *result);
STUB_FUNCTION(Group_difference, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
STUB_FUNCTION(Group_excl, MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
STUB_FUNCTION(Group_free, MPI_Group *group);
STUB_FUNCTION(Group_incl, MPI_Group group, int n, const int ranks[], MPI_Group *newgroup);
STUB_FUNCTION(Group_intersection, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
STUB_FUNCTION(Group_range_excl, MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
STUB_FUNCTION(Group_range_incl, MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
STUB_FUNCTION(Group_rank, MPI_Group group, int *rank);
STUB_FUNCTION(Group_size, MPI_Group group, int *size);
STUB_FUNCTION(Group_translate_ranks, MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
              int ranks2[]);
STUB_FUNCTION(Group_union, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup);
STUB_FUNCTION(Open_port, MPI_Info info, char *port_name);
STUB_FUNCTION(Close_port, const char *port_name);
STUB_FUNCTION(Lookup_name, const char *service_name, MPI_Info info, char *port_name);
STUB_FUNCTION(Publish_name, const char *service_name, MPI_Info info, const char *port_name);
STUB_FUNCTION(Unpublish_name, const char *service_name, MPI_Info info, const char *port_name);

/* Topologies. */
STUB_FUNCTION(Cart_create, MPI_Comm comm, int ndims, const int dims[], const int periods[],
              int reorder, MPI_Comm *newcomm);
STUB_FUNCTION(Cart_sub, MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm);
STUB_FUNCTION(Graph_create, MPI_Comm comm, int nnodes, const int index[], const int edges[],
              int reorder, MPI_Comm *newcomm);
STUB_FUNCTION(Dist_graph_create, MPI_Comm comm, int n, const int sources[], const int degrees[],
              const int destinations[], const int weights[], MPI_Info info, int reorder,
              MPI_Comm *newcomm);
STUB_FUNCTION(Dist_graph_create_adjacent, MPI_Comm comm, int indegree, const int sources[],
              const int sourceweights[], int outdegree, const int destinations[],
              const int destweights[], MPI_Info info, int reorder, MPI_Comm *newcomm);
STUB_FUNCTION(Cart_coords, MPI_Comm comm, int rank, int maxdims, int coords[]);
STUB_FUNCTION(Cart_get, MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]);
STUB_FUNCTION(Cart_map, MPI_Comm comm, int ndims, const int dims[], const int periods[],
              int *newrank);
STUB_FUNCTION(Cart_rank, MPI_Comm comm, const int coords[], int *rank);
STUB_FUNCTION(Cart_shift, MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest);
STUB_FUNCTION(Cartdim_get, MPI_Comm comm, int *ndims);
STUB_FUNCTION(Dims_create, int nnodes, int ndims, int dims[]);
STUB_FUNCTION(Dist_graph_neighbors, MPI_Comm comm, int maxindegree, int sources[],
              int sourceweights[], int maxoutdegree, int destinations[], int destweights[]);
STUB_FUNCTION(Dist_graph_neighbors_count, MPI_Comm comm, int *indegree, int *outdegree,
              int *weighted);
STUB_FUNCTION(Graph_get, MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]);
STUB_FUNCTION(Graph_map, MPI_Comm comm, int nnodes, const int indx[], const int edges[],
              int *newrank);
STUB_FUNCTION(Graph_neighbors, MPI_Comm comm, int rank, int maxneighbors, int neighbors[]);
STUB_FUNCTION(Graph_neighbors_count, MPI_Comm comm, int rank, int *nneighbors);
STUB_FUNCTION(Graphdims_get, MPI_Comm comm, int *nnodes, int *nedges);
STUB_FUNCTION(Topo_test, MPI_Comm comm, int *status);

/* One-sided communication. */
STUB_FUNCTION(Fetch_and_op, const void *origin_addr, void *result_addr, MPI_Datatype datatype,
              int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win);
STUB_FUNCTION(Compare_and_swap, const void *origin_addr, const void *compare_addr,
              void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
              MPI_Win win);
STUB_FUNCTION(Win_create_dynamic, MPI_Info info, MPI_Comm comm, MPI_Win *win);
STUB_FUNCTION(Win_free, MPI_Win *win);
STUB_FUNCTION(Win_fence, int assertion, MPI_Win win);
STUB_FUNCTION(Win_complete, MPI_Win win);
STUB_FUNCTION(Win_unlock, int rank, MPI_Win win);
STUB_FUNCTION(Win_unlock_all, MPI_Win win);
STUB_FUNCTION(Win_flush, int rank, MPI_Win win);
STUB_FUNCTION(Win_flush_all, MPI_Win win);
STUB_FUNCTION(Win_flush_local, int rank, MPI_Win win);
STUB_FUNCTION(Win_flush_local_all, MPI_Win win);
STUB_FUNCTION(Win_lock, int lock_type, int rank, int assertions, MPI_Win win);
STUB_FUNCTION(Win_lock_all, int assertions, MPI_Win win);
STUB_FUNCTION(Win_post, MPI_Group group, int assertions, MPI_Win win);
STUB_FUNCTION(Win_start, MPI_Group group, int assertions, MPI_Win win);
STUB_FUNCTION(Win_sync, MPI_Win win);
STUB_FUNCTION(Win_test, MPI_Win win, int *flag);
STUB_FUNCTION(Win_wait, MPI_Win win);
STUB_FUNCTION(Win_attach, MPI_Win win, void *base, MPI_Aint size);
STUB_FUNCTION(Win_call_errhandler, MPI_Win win, int errorcode);
STUB_FUNCTION(Win_create_errhandler, MPI_Win_errhandler_function *win_errhandler_fn,
              MPI_Errhandler *errhandler);
STUB_FUNCTION(Win_create_keyval, MPI_Win_copy_attr_function *win_copy_attr_fn,
              MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state);
STUB_FUNCTION(Win_delete_attr, MPI_Win win, int win_keyval);
STUB_FUNCTION(Win_detach, MPI_Win win, const void *base);
STUB_FUNCTION(Win_free_keyval, int *win_keyval);
STUB_FUNCTION(Win_get_attr, MPI_Win win, int win_keyval, void *attribute_val, int *flag);
STUB_FUNCTION(Win_get_errhandler, MPI_Win win, MPI_Errhandler *errhandler);
STUB_FUNCTION(Win_get_group, MPI_Win win, MPI_Group *group);
STUB_FUNCTION(Win_get_info, MPI_Win win, MPI_Info *info_used);
STUB_FUNCTION(Win_get_name, MPI_Win win, char *win_name, int *resultlen);
STUB_FUNCTION(Win_set_attr, MPI_Win win, int win_keyval, void *attribute_val);
STUB_FUNCTION(Win_set_errhandler, MPI_Win win, MPI_Errhandler errhandler);
STUB_FUNCTION(Win_set_info, MPI_Win win, MPI_Info info);
STUB_FUNCTION(Win_set_name, MPI_Win win, const char *win_name);

/* Datatypes and operations. */
STUB_FUNCTION(Type_get_contents_c, MPI_Datatype datatype, MPI_Count max_integers,
              MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes,
              int array_of_integers[], MPI_Aint array_of_addresses[],
              MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]);
STUB_FUNCTION(Type_get_envelope_c, MPI_Datatype datatype, MPI_Count *num_integers,
              MPI_Count *num_addresses, MPI_Count *num_large_counts, MPI_Count *num_datatypes,
              int *combiner);
STUB_FUNCTION(Op_create, MPI_User_function *user_fn, int commute, MPI_Op *op);
STUB_FUNCTION(Op_create_c, MPI_User_function_c *user_fn, int commute, MPI_Op *op);
STUB_FUNCTION(Get_address, const void *location, MPI_Aint *address);
STUB_FUNCTION(Type_commit, MPI_Datatype *datatype);
STUB_FUNCTION(Type_create_f90_complex, int p, int r, MPI_Datatype *newtype);
STUB_FUNCTION(Type_create_f90_integer, int r, MPI_Datatype *newtype);
STUB_FUNCTION(Type_create_f90_real, int p, int r, MPI_Datatype *newtype);
STUB_FUNCTION(Type_create_keyval, MPI_Type_copy_attr_function *type_copy_attr_fn,
              MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
              void *extra_state);
STUB_FUNCTION(Type_delete_attr, MPI_Datatype datatype, int type_keyval);
STUB_FUNCTION(Type_dup, MPI_Datatype oldtype, MPI_Datatype *newtype);
STUB_FUNCTION(Type_free, MPI_Datatype *datatype);
STUB_FUNCTION(Type_free_keyval, int *type_keyval);
STUB_FUNCTION(Type_get_attr, MPI_Datatype datatype, int type_keyval, void *attribute_val,
              int *flag);
STUB_FUNCTION(Type_get_contents, MPI_Datatype datatype, int max_integers, int max_addresses,
              int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
              MPI_Datatype array_of_datatypes[]);
STUB_FUNCTION(Type_get_envelope, MPI_Datatype datatype, int *num_integers, int *num_addresses,
              int *num_datatypes, int *combiner);
STUB_FUNCTION(Type_get_name, MPI_Datatype datatype, char *type_name, int *resultlen);
STUB_FUNCTION(Type_match_size, int typeclass, int size, MPI_Datatype *datatype);
STUB_FUNCTION(Type_set_attr, MPI_Datatype datatype, int type_keyval, void *attribute_val);
STUB_FUNCTION(Type_set_name, MPI_Datatype datatype, const char *type_name);
STUB_FUNCTION(Op_commutative, MPI_Op op, int *commute);
STUB_FUNCTION(Op_free, MPI_Op *op);

/* Files. */
STUB_FUNCTION(Register_datarep, const char *datarep,
              MPI_Datarep_conversion_function *read_conversion_fn,
              MPI_Datarep_conversion_function *write_conversion_fn,
              MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state);
STUB_FUNCTION(Register_datarep_c, const char *datarep,
              MPI_Datarep_conversion_function_c *read_conversion_fn,
              MPI_Datarep_conversion_function_c *write_conversion_fn,
              MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state);
STUB_FUNCTION(File_call_errhandler, MPI_File fh, int errorcode);
STUB_FUNCTION(File_close, MPI_File *fh);
STUB_FUNCTION(File_create_errhandler, MPI_File_errhandler_function *file_errhandler_fn,
              MPI_Errhandler *errhandler);
STUB_FUNCTION(File_delete, const char *filename, MPI_Info info);
STUB_FUNCTION(File_get_amode, MPI_File fh, int *amode);
STUB_FUNCTION(File_get_atomicity, MPI_File fh, int *flag);
STUB_FUNCTION(File_get_byte_offset, MPI_File fh, MPI_Offset offset, MPI_Offset *disp);
STUB_FUNCTION(File_get_errhandler, MPI_File file, MPI_Errhandler *errhandler);
STUB_FUNCTION(File_get_group, MPI_File fh, MPI_Group *group);
STUB_FUNCTION(File_get_info, MPI_File fh, MPI_Info *info_used);
STUB_FUNCTION(File_get_position, MPI_File fh, MPI_Offset *offset);
STUB_FUNCTION(File_get_position_shared, MPI_File fh, MPI_Offset *offset);
STUB_FUNCTION(File_get_size, MPI_File fh, MPI_Offset *size);
STUB_FUNCTION(File_get_view, MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype,
              MPI_Datatype *filetype, char *datarep);
STUB_FUNCTION(File_open, MPI_Comm comm, const char *filename, int amode, MPI_Info info,
              MPI_File *fh);
STUB_FUNCTION(File_preallocate, MPI_File fh, MPI_Offset size);
STUB_FUNCTION(File_read_all_end, MPI_File fh, void *buf, MPI_Status *status);
STUB_FUNCTION(File_read_at_all_end, MPI_File fh, void *buf, MPI_Status *status);
STUB_FUNCTION(File_read_ordered_end, MPI_File fh, void *buf, MPI_Status *status);
STUB_FUNCTION(File_seek, MPI_File fh, MPI_Offset offset, int whence);
STUB_FUNCTION(File_seek_shared, MPI_File fh, MPI_Offset offset, int whence);
STUB_FUNCTION(File_set_atomicity, MPI_File fh, int flag);
STUB_FUNCTION(File_set_errhandler, MPI_File file, MPI_Errhandler errhandler);
STUB_FUNCTION(File_set_info, MPI_File fh, MPI_Info info);
STUB_FUNCTION(File_set_size, MPI_File fh, MPI_Offset size);
STUB_FUNCTION(File_set_view, MPI_File fh, MPI_Offset disp, MPI_Datatype etype,
              MPI_Datatype filetype, const char *datarep, MPI_Info info);
STUB_FUNCTION(File_sync, MPI_File fh);
STUB_FUNCTION(File_write_all_end, MPI_File fh, const void *buf, MPI_Status *status);
STUB_FUNCTION(File_write_at_all_end, MPI_File fh, const void *buf, MPI_Status *status);
STUB_FUNCTION(File_write_ordered_end, MPI_File fh, const void *buf, MPI_Status *status);

/* All else. */
STUB_FUNCTION(Add_error_class, int *errorclass);
STUB_FUNCTION(Add_error_code, int errorclass, int *errorcode);
STUB_FUNCTION(Add_error_string, int errorcode, const char *string);
STUB_FUNCTION(Alloc_mem, MPI_Aint size, MPI_Info info, void *baseptr);
STUB_FUNCTION(Errhandler_free, MPI_Errhandler *errhandler);
STUB_FUNCTION(Error_class, int errorcode, int *errorclass);
STUB_FUNCTION(Error_string, int errorcode, char *string, int *resultlen);
STUB_FUNCTION(Free_mem, void *base);
STUB_FUNCTION(Info_create, MPI_Info *info);
STUB_FUNCTION(Info_delete, MPI_Info info, const char *key);
STUB_FUNCTION(Info_dup, MPI_Info info, MPI_Info *newinfo);
STUB_FUNCTION(Info_free, MPI_Info *info);
STUB_FUNCTION(Info_get_nkeys, MPI_Info info, int *nkeys);
STUB_FUNCTION(Info_get_nthkey, MPI_Info info, int n, char *key);
STUB_FUNCTION(Info_set, MPI_Info info, const char *key, const char *value);
STUB_FUNCTION(Info_create_env, int argc, char *argv[], MPI_Info *info);
STUB_FUNCTION(Info_get_string, MPI_Info info, const char *key, int *buflen, char *value, int *flag);

/* The tool information interface, which has no profiling interface. */
int MPI_T_init_thread(int required, int *provided);
int MPI_T_finalize(void);
int MPI_T_pvar_get_num(int *num_pvar);
int MPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index);
int MPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                        MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                        int *bind, int *readonly, int *continuous, int *atomic);
int MPI_T_pvar_session_create(MPI_T_pvar_session *pe_session);
int MPI_T_pvar_session_free(MPI_T_pvar_session *pe_session);
int MPI_T_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index, void *obj_handle,
                            MPI_T_pvar_handle *handle, int *count);
int MPI_T_pvar_handle_free(MPI_T_pvar_session pe_session, MPI_T_pvar_handle *handle);
int MPI_T_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle);
int MPI_T_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void *buf);

#undef STUB_FUNCTION

#endif
