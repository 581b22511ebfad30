# SPDX-License-Identifier: Apache-2.0
# The functions written every day. Each call is one row of the table:
#   frostline_library(sampler HDRS tpe.h SRCS tpe.cc DEPS frostline::study)
#   frostline_binary(frostline-coordinator SRCS main.cc DEPS frostline::server)
#   frostline_test(sampler_tpe SRCS sampler/tpe_test.cc DEPS frostline::sampler)
function(frostline_library NAME)
  cmake_parse_arguments(ARG "" "" "HDRS;SRCS;DEPS" ${ARGN})
  if(ARG_SRCS)
    add_library(frostline_${NAME} STATIC ${ARG_SRCS} ${ARG_HDRS})
    target_link_libraries(frostline_${NAME}
      PUBLIC ${ARG_DEPS} PRIVATE frostline_options)
    target_include_directories(frostline_${NAME} PUBLIC ${CMAKE_SOURCE_DIR})
  else()
    add_library(frostline_${NAME} INTERFACE)
    target_link_libraries(frostline_${NAME} INTERFACE ${ARG_DEPS})
    target_include_directories(frostline_${NAME} INTERFACE ${CMAKE_SOURCE_DIR})
  endif()
  add_library(frostline::${NAME} ALIAS frostline_${NAME})
endfunction()

# Rooms that calculate are optimised also where the rest is built for a
# sanitizer: their tests would take minutes.
function(frostline_calculates NAME)
  if(FROSTLINE_SANITIZE)
    target_compile_options(frostline_${NAME} PRIVATE -O1)
  endif()
endfunction()

# The target `programs` is all of them: those of users, and runners of tests.
function(frostline_binary NAME)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SRCS})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} frostline_options)
  if(NOT TARGET programs)
    add_custom_target(programs)
  endif()
  add_dependencies(programs ${NAME})
endfunction()

# One label says what kind a test is. What each kind is, and how long all of it
# may take, is in docs/contributing.md and scripts/budgets.txt.
set(FROSTLINE_LABELS unit contract parity flow style docs recipe fault
    client deploy python browser fuzz)

# Names a test for `ctest -L`: by its kind, and by its folder for
# scripts/changed_rooms.py.
function(frostline_label_test NAME LABEL)
  if(NOT LABEL IN_LIST FROSTLINE_LABELS)
    message(FATAL_ERROR "${NAME}: no label ${LABEL}: take one of "
      "${FROSTLINE_LABELS}")
  endif()
  file(RELATIVE_PATH FOLDER ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${NAME} PROPERTIES LABELS "${LABEL};at:${FOLDER}")
endfunction()

# frostline_command_test(parity LABEL parity TIMEOUT 300 TARGETS parity_runner
#   COMMAND parity_runner --data DIR): a test that is no GoogleTest program.
# TARGETS must be built first: the target NAME_test, as for every other test.
function(frostline_command_test NAME)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "COMMAND;TARGETS" ${ARGN})
  add_test(NAME ${NAME} COMMAND ${ARG_COMMAND})
  frostline_label_test(${NAME} ${ARG_LABEL})
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  add_custom_target(${NAME}_test)
  if(ARG_TARGETS)
    add_dependencies(${NAME}_test ${ARG_TARGETS})
  endif()
endfunction()

# LABEL is unit where nothing else is said; TIMEOUT is in seconds.
function(frostline_test NAME)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SRCS;DEPS;ENV" ${ARGN})
  add_executable(${NAME}_test ${ARG_SRCS})
  target_link_libraries(${NAME}_test
    PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main frostline_options)
  set_target_properties(${NAME}_test PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(FROSTLINE_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")  # unoptimised and watched
  endif()
  add_test(NAME ${NAME} COMMAND ${NAME}_test)
  frostline_label_test(${NAME} ${ARG_LABEL})
  set_tests_properties(${NAME} PROPERTIES
    TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "FROSTLINE_SOURCE_DIR=${CMAKE_SOURCE_DIR};FROSTLINE_BIN_DIR=${CMAKE_BINARY_DIR}/bin;${ARG_ENV}")
endfunction()
