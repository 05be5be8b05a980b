/*
 * Texts from outside, such as arguments and host names, made safe for results and terminals.
 */
#ifndef COMMCOST_COMMON_RESULT_PLAIN_TEXT_H
#define COMMCOST_COMMON_RESULT_PLAIN_TEXT_H

/* Turns a text, in place, into one line of valid UTF-8 without control characters: these, and the
   line and paragraph separators of Unicode, become `control`; each byte that isn't UTF-8 becomes a
   question mark. The text gets no longer. Local. */
void bc_make_plain_text(char *text, char control);

#endif
