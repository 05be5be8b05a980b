/*
 * Texts that come from others: what a user wrote, what a system says of itself.
 */
#ifndef COMMCOST_COMMON_RESULT_PLAIN_TEXT_H
#define COMMCOST_COMMON_RESULT_PLAIN_TEXT_H

/* Makes a text, in place, one line of valid UTF-8 that a terminal and any reader
   of lines can take: control characters, and what Unicode calls line and
   paragraph separators, become `control`; each byte that isn't UTF-8 becomes a
   question mark. It gets no longer. */
void bc_make_plain_text(char *text, char control);

#endif
