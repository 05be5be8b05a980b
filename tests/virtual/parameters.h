/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the model MPI's operations cost, and what the virtual machine is like: numbers from the
 * environment. parameters.def has a row for each, with what it means.
 */
#ifndef VIRTUAL_PARAMETERS_H
#define VIRTUAL_PARAMETERS_H

struct parameters {
#define PARAMETER(member, variable, unit, usual, min, max) double member;
#include "tests/virtual/parameters.def"
};

extern struct parameters parameters;

/* Reads the environment; ends the program with a message if a value is no number or outside its
   range. In the parent of all ranks. */
void parameters_read(void);

#endif
