! SPDX-License-Identifier: BSD-3-Clause
! Calls MPI from Fortran as flavours.c does from C, on 2 ranks: with mpif.h, with -DUSE_MPI by the module mpi, with -DUSE_F08
! by mpi_f08, there without ierror.
#ifdef USE_F08
#define IERR_
#define IERROR
#define HANDLE_(kind) type(kind)
#define STATUS_ type(MPI_Status)
#define STATUSES_(count) type(MPI_Status), dimension(count)
#else
#define IERR_ , ierr
#define IERROR ierr
#define HANDLE_(kind) integer
#define STATUS_ integer, dimension(MPI_STATUS_SIZE)
#define STATUSES_(count) integer, dimension(MPI_STATUS_SIZE, count)
#endif
program flavours
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: N = 8
  integer :: ierr, rank, ranks, other, i, k, found, indices(3), counts(2), places(2)
  integer :: sent(2 * N), received(2 * N)
  integer(MPI_ADDRESS_KIND) :: bytes
  logical :: flag
  HANDLE_(MPI_Comm) :: pair, grid
  HANDLE_(MPI_Win) :: win
  HANDLE_(MPI_Datatype) :: vector
  HANDLE_(MPI_Request) :: requests(3)
  STATUS_ :: status
  STATUSES_(3) :: statuses
  call mpi_init(IERROR)
  call mpi_comm_rank(MPI_COMM_WORLD, rank IERR_)
  call mpi_comm_size(MPI_COMM_WORLD, ranks IERR_)
  other = 1 - rank
  sent = rank
  call mpi_comm_dup(MPI_COMM_WORLD, pair IERR_)
  call mpi_comm_set_name(pair, 'pair of ranks   ' IERR_)
  call mpi_cart_create(pair, 1, (/ 2 /), (/ .true. /), .false., grid IERR_)
  call mpi_type_contiguous(2, MPI_INTEGER, vector IERR_)
  call mpi_type_commit(vector IERR_)
  ! Messages, with statuses and without.
  do i = 1, 2
    call mpi_irecv(received, N, MPI_INTEGER, other, 0, pair, requests(1) IERR_)
    call mpi_isend(sent, i, MPI_INTEGER, other, 0, pair, requests(2) IERR_)
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE IERR_)
    call mpi_sendrecv(sent, i, MPI_INTEGER, other, 0, received, N, MPI_INTEGER, other, 0, pair, MPI_STATUS_IGNORE IERR_)
    call mpi_sendrecv(sent, 1, vector, other, 0, received, N, MPI_INTEGER, other, 0, pair, status IERR_)
    call mpi_sendrecv(sent, 1, MPI_INTEGER, MPI_PROC_NULL, 0, received, N, MPI_INTEGER, MPI_PROC_NULL, 0, pair, status IERR_)
  end do
  if (rank == 0) call mpi_send(sent, 3, MPI_INTEGER, other, 0, pair IERR_)
  if (rank == 1) call mpi_recv(received, N, MPI_INTEGER, other, 0, pair, MPI_STATUS_IGNORE IERR_)
  if (rank == 1) call mpi_ssend(sent, 4, MPI_INTEGER, other, 0, pair IERR_)
  if (rank == 0) call mpi_probe(other, 0, pair, status IERR_)
  if (rank == 0) call mpi_recv(received, N, MPI_INTEGER, MPI_ANY_SOURCE, 0, pair, status IERR_)
  ! Calls that complete some requests.
  do k = 1, 5
    do i = 1, 3
      call mpi_irecv(received, N, MPI_INTEGER, other, i, pair, requests(i) IERR_)
    end do
    do i = 3, 1, -1
      call mpi_send(sent, i, MPI_INTEGER, other, i, pair IERR_)
    end do
    flag = .false.
    if (k == 1) then
      do i = 1, 3
        call mpi_waitany(3, requests, found, MPI_STATUS_IGNORE IERR_)
      end do
      call mpi_waitany(3, requests, found, status IERR_)
    else if (k == 2) then
      found = 0
      do while (found /= MPI_UNDEFINED)
        call mpi_waitsome(3, requests, found, indices, statuses IERR_)
      end do
    else if (k == 3) then
      do while (.not. flag)
        call mpi_testall(3, requests, flag, MPI_STATUSES_IGNORE IERR_)
      end do
    else if (k == 4) then
      i = 0
      do while (i < 3)
        call mpi_testany(3, requests, found, flag, status IERR_)
        if (flag) i = i + 1
      end do
    else
      do i = 1, 3
        flag = .false.
        do while (.not. flag)
          call mpi_test(requests(i), flag, MPI_STATUS_IGNORE IERR_)
        end do
      end do
    end if
  end do
  call mpi_send_init(sent, 2, MPI_INTEGER, other, 0, pair, requests(1) IERR_)
  call mpi_recv_init(received, N, MPI_INTEGER, other, 0, pair, requests(2) IERR_)
  do i = 1, 2
    call mpi_start(requests(1) IERR_)
    call mpi_start(requests(2) IERR_)
    call mpi_wait(requests(1), MPI_STATUS_IGNORE IERR_)
    call mpi_wait(requests(2), status IERR_)
    call mpi_startall(2, requests IERR_)
    call mpi_waitall(2, requests, statuses IERR_)
  end do
  call mpi_request_free(requests(1) IERR_)
  call mpi_request_free(requests(2) IERR_)
  ! Collectives.
  counts = (/ 1, 2 /)
  places = (/ 0, 1 /)
  call mpi_barrier(pair IERR_)
  call mpi_ibarrier(pair, requests(1) IERR_)
  call mpi_wait(requests(1), MPI_STATUS_IGNORE IERR_)
  call mpi_bcast(sent, N, MPI_INTEGER, 1, pair IERR_)
  call mpi_allreduce(MPI_IN_PLACE, sent, N, MPI_INTEGER, MPI_SUM, pair IERR_)
  call mpi_reduce(sent, received, N, MPI_INTEGER, MPI_SUM, 0, pair IERR_)
  call mpi_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, N, MPI_INTEGER, pair IERR_)
  call mpi_allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, counts, places, MPI_INTEGER, pair IERR_)
  call mpi_gatherv(sent, rank + 1, MPI_INTEGER, received, counts, places, MPI_INTEGER, 0, pair IERR_)
  call mpi_alltoallv(sent, (/ 1, 1 /), places, MPI_INTEGER, received, (/ 1, 1 /), places, MPI_INTEGER, pair IERR_)
  call mpi_reduce_scatter(sent, received, counts, MPI_INTEGER, MPI_SUM, pair IERR_)
  call mpi_scan(sent, received, N, MPI_INTEGER, MPI_SUM, pair IERR_)
  call mpi_neighbor_allgather(sent, 1, MPI_INTEGER, received, 1, MPI_INTEGER, grid IERR_)
  ! A window.
  bytes = 4 * N
  call mpi_win_create(sent, bytes, 4, MPI_INFO_NULL, pair, win IERR_)
  call mpi_win_fence(0, win IERR_)
  bytes = 0
  call mpi_put(received, 2, MPI_INTEGER, other, bytes, 2, MPI_INTEGER, win IERR_)
  call mpi_win_fence(0, win IERR_)
  call mpi_win_lock(MPI_LOCK_SHARED, other, 0, win IERR_)
  call mpi_get(received, 3, MPI_INTEGER, other, bytes, 3, MPI_INTEGER, win IERR_)
  call mpi_win_flush(other, win IERR_)
  call mpi_win_unlock(other, win IERR_)
  call mpi_win_free(win IERR_)
  call mpi_type_free(vector IERR_)
  call mpi_comm_free(grid IERR_)
  call mpi_comm_free(pair IERR_)
  call mpi_finalize(IERROR)
end program flavours
