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

function(frostline_binary NAME)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SRCS})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} frostline_options)
endfunction()

# LABEL (default unit) groups tests for `ctest -L`; TIMEOUT is in seconds.
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
  set_tests_properties(${NAME} PROPERTIES
    LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "FROSTLINE_SOURCE_DIR=${CMAKE_SOURCE_DIR};FROSTLINE_BIN_DIR=${CMAKE_BINARY_DIR}/bin;${ARG_ENV}")
endfunction()
