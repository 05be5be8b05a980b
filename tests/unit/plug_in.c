/* A plug-in of Open MPI for test_monitor_services.c, which needs its name alone:
 * mca_test_part.so. */
extern const int plug_in_of_a_test;
const int plug_in_of_a_test = 1;
