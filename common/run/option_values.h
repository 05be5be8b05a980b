/* The value of one option, taken from a text and as text. Internal to options. All functions are
   local. */
#pragma once

#include "common/result/text.h"
#include "common/run/options.h"

/* Takes `text` (NULL for a flag without a value) as the option's value, written to the option or
   the variable `name`. `limited`: a number must lie within the option's limits. False with the
   error set if it can't be one. */
bool bc_option_set(const struct bc_option_entry *entry, const char *name, const char *text,
                   bool limited, struct bc_error *error);

/* Whether the value is a text, and which; NULL if it has none. */
bool bc_option_is_text(const struct bc_option_entry *entry);
const char *bc_option_text_of(const struct bc_option_entry *entry);

/* The value to be read again or, for people, with the name of a 0. The caller frees its start,
   which isn't NULL. */
struct bc_text bc_option_value_text(const struct bc_option_entry *entry, bool for_people);

/* Whether the name at that index stands in the list before, too. */
bool bc_name_is_listed_before(bc_name_fn *name_at, int index);
