# SPDX-License-Identifier: BSD-3-Clause
# The build for 64-bit Arm on another processor, with Debian's packages for it in the folder COMMCOST_SYSROOT, and MPICH
# among them. Its programs are run by an emulator.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_SYSROOT "${COMMCOST_SYSROOT}")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES COMMCOST_SYSROOT)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L "${CMAKE_SYSROOT}")

# mpicc of these packages is for that processor and this system's for this one: so that CMake asks neither, the
# compiler finds MPI without a word.
set(CMAKE_C_FLAGS_INIT "-isystem ${CMAKE_SYSROOT}/usr/include/aarch64-linux-gnu/mpich")
set(CMAKE_C_STANDARD_LIBRARIES_INIT -lmpich)
