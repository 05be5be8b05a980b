/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into the sanitizer build: plug-ins of the MPI library stay loaded, so
   that a leak report can name them (and lsan.supp can leave them out). Weak, since
   libmpirtmon has its own. */
__attribute__((weak)) int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
