/* For programs that include a benchmark's own file, to call its measure(): renames the functions
   that both have. Include it right before that file. */
#define main program_main
#define measure program_measure
#define write_row program_write_row
#define list_rows program_list_rows
