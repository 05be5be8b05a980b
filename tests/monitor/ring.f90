! SPDX-License-Identifier: BSD-3-Clause
! Fortran programs call MPI through its Fortran layer: does a monitor below it see them?
! Each rank sends an integer around a ring: 10 messages with mpi_sendrecv, 5 with mpi_isend, mpi_irecv and
! mpi_waitall, then 3 mpi_allreduce.
program ring
  use mpi
  implicit none
  integer :: ierr, rank, ranks, left, right, i, token, other, total
  integer :: requests(2)
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  token = rank
  do i = 1, 10
    call mpi_sendrecv(token, 1, MPI_INTEGER, right, 0, other, 1, MPI_INTEGER, left, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr)
    token = other
  end do
  do i = 1, 5
    call mpi_irecv(other, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1), ierr)
    call mpi_isend(token, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2), ierr)
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    token = other
  end do
  do i = 1, 3
    call mpi_allreduce(token, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  if (rank == 0) print *, 'sum of all tokens', total
  call mpi_finalize(ierr)
end program ring
