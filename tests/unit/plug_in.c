/* SPDX-License-Identifier: BSD-3-Clause */
/* Library for test_monitor_services.c. Only the file's name counts: mca_test_part.so, as of an Open
   MPI plug-in. */
extern const int plug_in_of_a_test;
const int plug_in_of_a_test = 1;
