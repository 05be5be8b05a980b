/* What a plug-in of Open MPI is called is all that test_monitor_services.c wants of one:
 * mca_test_part.so. */
extern const int plug_in_of_a_test;
const int plug_in_of_a_test = 1;
