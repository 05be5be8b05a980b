/* Values of options and their texts, for options.c; no program includes it. All functions are
 * local. */
#pragma once

#include "common/run/options.h"

/* Takes `text` (NULL for a flag without a value) as the option's value, written to the option or
   the variable `name`. `limited`: the user wrote it, so a number must lie within the option's
   limits, and a list isn't empty. False with the error set if it can't be one. */
bool bc_value_set(const struct bc_option_entry *entry, const char *name, const char *text,
                  bool limited, struct bc_error *error);

/* Appends the names, each once, with `separator` in between. Returns how many they are. */
int bc_append_names(struct bc_text *text, bc_name_fn *name_at, int count, const char *separator);
