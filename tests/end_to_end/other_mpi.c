/*
 * For a program to be preloaded with: a library that says that it is Open MPI.
 */
#include <string.h>

int PMPI_Get_library_version(char *version, int *length);

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "Open MPI v4.1.4, not really");
    *length = (int)strlen(version);
    return 0;
}
