/*
 * The main() of every benchmark. BC_BENCHMARK, which the build sets, is the name of its constant.
 */
#include "common/run/benchmark.h"

extern const struct bc_benchmark BC_BENCHMARK;

int main(int argc, char **argv) { return bc_benchmark_main(&BC_BENCHMARK, argc, argv); }
