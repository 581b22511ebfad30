# SPDX-License-Identifier: Apache-2.0
# frostline_bench(store_commits SRCS store_commits_bench.cc DEPS ...): a program
# in <build>/bench that prints its figures; run by `./dev bench NAME`.
function(frostline_bench NAME)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${NAME}_bench ${ARG_SRCS})
  target_link_libraries(${NAME}_bench PRIVATE ${ARG_DEPS} frostline_options)
  set_target_properties(${NAME}_bench PROPERTIES
    OUTPUT_NAME ${NAME} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  if(NOT TARGET benches)
    add_custom_target(benches)
  endif()
  add_dependencies(benches ${NAME}_bench)
endfunction()
