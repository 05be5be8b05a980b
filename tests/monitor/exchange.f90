! SPDX-License-Identifier: BSD-3-Clause
! Messages between two ranks, reductions, and a file, for a program in C that is linked with this or opens it.
subroutine exchange() bind(c)
  use mpi
  implicit none
  integer, parameter :: n = 4
  integer :: rank, other, ierr, file, request, values(n), received(n), status(MPI_STATUS_SIZE)
  integer(kind=MPI_OFFSET_KIND) :: at
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  other = 1 - rank
  values = rank
  call MPI_Sendrecv(values, n, MPI_INTEGER, other, 0, received, n, MPI_INTEGER, other, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (any(received /= other) .or. any(values /= 1)) stop 1
  call MPI_File_open(MPI_COMM_WORLD, 'exchange.data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
  at = rank * n * 4
  call MPI_File_write_at_all(file, at, values, n, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_iwrite_at(file, at, values, n, MPI_INTEGER, request, ierr)
  call MPI_Wait(request, status, ierr)
  call MPI_File_seek(file, at, MPI_SEEK_SET, ierr)
  call MPI_File_read(file, received, 4 * n, MPI_BYTE, status, ierr)
  if (any(received /= values)) stop 2
  call MPI_File_close(file, ierr)
  if (rank == 0) call MPI_File_delete('exchange.data', MPI_INFO_NULL, ierr)
end subroutine exchange
