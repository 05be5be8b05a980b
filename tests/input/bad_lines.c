/*
 * Thousands of command lines and environments against the options and the checks of every program:
 * see judge.h for what must be true, lines.h for how lines are made.
 *
 * usage: bad_lines [SEED [LINES]]       judges LINES lines, for the programs in turn
 *        bad_lines --print SEED LINES   prints them, tame, for mpirun: of each line the program's
 *                                       name, the number of words behind it, the words, the number
 *                                       of variables, and these with their values; each of these
 *                                       fields ends with a byte of 0
 */
#include "judge.h"
#include "lines.h"
#include "programs.h"

#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* What a line may take of the processor, with sanitizers; most take a tenth of a
   millisecond, but in the v and w variants each of a million ranks has an amount of its own. */
#define LINE_MS_MAX 3000.0

/* A line that takes this long hangs. */
#define HANG_S 20

static const char *const outcome_names[OUTCOMES] = {"accepted", "answered", "refused"};

static const struct bc_benchmark *program_in_hand;
static struct line line;
static uint64_t number;
static char hanging[128]; /* the message if the line in hand hangs */

/* ---- what is said of a line ------------------------------------------------------------------ */

static void print_word(const char *word)
{
    enum { SHOWN = 60 };
    (void)fputc('\'', stderr);
    for (int i = 0; i < SHOWN && word[i] != '\0'; i++) {
        if (word[i] >= ' ' && word[i] < 127)
            (void)fputc(word[i], stderr);
        else
            (void)fprintf(stderr, "\\x%02x", (unsigned)(unsigned char)word[i]);
    }
    (void)fprintf(stderr, strlen(word) > SHOWN ? "...' (%zu bytes)" : "'", strlen(word));
}

static void print_line(const struct job *job)
{
    (void)fprintf(stderr, "  line %" PRIu64 ":", number);
    for (size_t i = 0; i < line.variable_count; i++) {
        (void)fprintf(stderr, " %s=", line.variables[i].name);
        print_word(line.variables[i].value);
    }
    (void)fprintf(stderr, " %s", program_in_hand->name);
    for (int i = 1; i < line.count; i++) {
        (void)fputc(' ', stderr);
        print_word(line.words[i]);
    }
    (void)fprintf(stderr, "\n  %d ranks%s, memory %" PRId64 ", /dev/shm %" PRId64 "\n", job->ranks,
                  job->oversubscribed ? ", oversubscribed" : "", job->memory_per_rank,
                  job->shared_memory_per_rank);
}

static void tell_hanging(int signal_number)
{
    (void)signal_number;
    (void)!write(STDERR_FILENO, hanging, strlen(hanging));
    _exit(1);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Makes the line with this number and returns the random numbers behind it. Each line has its own,
   so that any can be made again alone. */
static struct random next_line(uint64_t seed, bool tame)
{
    struct random random = {seed * UINT64_C(1000000007) + number};
    struct bc_run run;
    program_in_hand = programs[number % programs_count];
    (void)snprintf(hanging, sizeof hanging, "no end after %d s: line %" PRIu64 ", %s\n", HANG_S,
                   number, program_in_hand->name);
    program_prepare(&run, program_in_hand);
    line_make(&line, &run.options, tame, &random);
    bc_run_release(&run);
    return random;
}

static double processor_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Judges all lines; returns the number of wrong ones. */
static size_t judge_lines(uint64_t seed, uint64_t lines)
{
    size_t wrong = 0, outcomes[OUTCOMES] = {0}, expected[LINE_IS_BAD + 1] = {0};
    double slowest_ms = 0.0;
    for (number = 0; number < lines; number++) {
        enum outcome outcome;
        const struct itimerval limit = {{0, 0}, {HANG_S, 0}};
        (void)setitimer(ITIMER_REAL, &limit, NULL);
        struct random random = next_line(seed, false);
        const struct job job = job_make(&random);
        const double begin_ms = processor_ms();
        bool good = judge(program_in_hand, &line, &job, &outcome);
        const double taken_ms = processor_ms() - begin_ms;
        if (taken_ms > LINE_MS_MAX) {
            (void)fprintf(stderr, "took %.0f ms\n", taken_ms);
            good = false;
        }
        if (!good) {
            print_line(&job);
            wrong++;
        }
        slowest_ms = taken_ms > slowest_ms ? taken_ms : slowest_ms;
        outcomes[outcome]++;
        expected[line.expectation]++;
        line_free(&line);
    }
    (void)printf("%" PRIu64 " lines of %zu programs, seed %" PRIu64 ":", lines, programs_count,
                 seed);
    for (int i = 0; i < OUTCOMES; i++)
        (void)printf(" %zu %s,", outcomes[i], outcome_names[i]);
    (void)printf(" %zu wrong; slowest %.1f ms; made: %zu good, %zu with a bad value, %zu with a "
                 "bad word, %zu of "
                 "anything\n",
                 wrong, slowest_ms, expected[VALUES_ARE_GOOD], expected[OPTION_IS_BAD],
                 expected[LINE_IS_BAD], expected[ANYTHING]);
    /* A generator that makes but one kind of line shows nothing. */
    for (int i = 0; i < OUTCOMES; i++)
        if (lines >= 1000 && outcomes[i] == 0) {
            (void)fprintf(stderr, "no line was %s\n", outcome_names[i]);
            wrong++;
        }
    return wrong;
}

static void print_field(const char *text) { (void)fwrite(text, 1, strlen(text) + 1, stdout); }

static void print_lines(uint64_t seed, uint64_t lines)
{
    for (number = 0; number < lines; number++) {
        char count[16];
        (void)next_line(seed, true);
        print_field(program_in_hand->name);
        (void)snprintf(count, sizeof count, "%d", line.count - 1);
        print_field(count);
        for (int i = 1; i < line.count; i++)
            print_field(line.words[i]);
        (void)snprintf(count, sizeof count, "%zu", line.variable_count);
        print_field(count);
        for (size_t i = 0; i < line.variable_count; i++) {
            print_field(line.variables[i].name);
            print_field(line.variables[i].value);
        }
        line_free(&line);
    }
}

int main(int argc, char **argv)
{
    const bool prints = argc == 4 && strcmp(argv[1], "--print") == 0;
    const uint64_t seed = argc > 1 + prints ? strtoull(argv[1 + prints], NULL, 10) : 1;
    const uint64_t lines = argc > 2 + prints ? strtoull(argv[2 + prints], NULL, 10) : 20000;
    (void)signal(SIGALRM, tell_hanging);
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
        (void)fputs("no locale C.UTF-8\n", stderr);
        return 2;
    }
    size_t wrong = 0;
    if (prints) {
        print_lines(seed, lines);
    } else {
        for (size_t i = 0; i < programs_count; i++)
            wrong += !judge_help(programs[i]);
        wrong += judge_lines(seed, lines);
    }
    return wrong > 0;
}
