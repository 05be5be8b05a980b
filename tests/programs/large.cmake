# SPDX-License-Identifier: BSD-3-Clause
# Beyond 2^31 bytes and beyond the counts that an int holds.
#
# The programs again, for which 1000 is the largest count that is passed as an int:
# the objects that know this number come before the libraries, whose own are left
# out. So small buffers go the way of those that no test could allocate.
add_library(few_counts OBJECT ${PROJECT_SOURCE_DIR}/common/mpi/large_count.c
            ${PROJECT_SOURCE_DIR}/common/coarray/coarray.c)
target_link_libraries(few_counts PUBLIC commcost_settings)
target_compile_definitions(few_counts PUBLIC BC_COUNT_MAX=1000)
add_library(few_counts_operations OBJECT ${PROJECT_SOURCE_DIR}/common/operations/counts.c)
target_link_libraries(few_counts_operations PUBLIC few_counts)
set_target_properties(few_counts few_counts_operations PROPERTIES EXPORT_COMPILE_COMMANDS OFF)

# few_counts_program(PROGRAM [OBJECTS]...)
function(few_counts_program name)
  get_target_property(_library ${name} COMMCOST_LIBRARY)
  get_target_property(_sources ${name} COMMCOST_SOURCES)
  commcost_benchmark(few_counts_${name} "${_library}" ${_sources} ${ARGN} $<TARGET_OBJECTS:few_counts>)
  # The checks of the sources look at the programs' own objects.
  set_target_properties(few_counts_${name} PROPERTIES OUTPUT_NAME ${name} EXPORT_COMPILE_COMMANDS OFF
                        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/few_counts")
endfunction()

# The programs of overlap whose sizes are counts; not overlap_partitioned, which refuses larger ones.
get_property(_programs GLOBAL PROPERTY COMMCOST_BENCHMARKS)
list(FILTER _programs INCLUDE REGEX "^overlap_")
list(FILTER _programs EXCLUDE REGEX "_(ibarrier|halo|partitioned)$")
foreach(program IN LISTS _programs)
  few_counts_program(${program} $<TARGET_OBJECTS:few_counts_operations>)
endforeach()
few_counts_program(collective $<TARGET_OBJECTS:few_counts_operations>)
foreach(program IN ITEMS mpi_overhead msgrate msgrate_rma pingpong halo)
  few_counts_program(${program})
endforeach()

commcost_unittest(large_few_counts few_counts_test.py large 600)
commcost_unittest(large_usage large_usage_test.py large 240)
commcost_unittest(large_really large_test.py large 3600)
