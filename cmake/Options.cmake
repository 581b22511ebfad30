# SPDX-License-Identifier: Apache-2.0
# What every target of ours is compiled with. -Werror lives in the presets, so
# that a packager with another compiler is not broken by a new warning.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A source parses a hundred thousand lines of other people's headers: a batch of
# sixteen does so once. Who edits wants each by itself (the preset `edit`).
set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile the sources of a library in batches")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
option(FROSTLINE_PRECOMPILE
  "Parse the headers that all of a library includes once: for who edits" OFF)
set(FROSTLINE_SANITIZE "" CACHE STRING "address,undefined | thread | empty")

add_library(frostline_options INTERFACE)
target_include_directories(frostline_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(frostline_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wundef)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ takes every source of a batch but the batch itself for a header, in
  # which a class must not hold a type of an anonymous namespace.
  target_compile_options(frostline_options INTERFACE -Wno-subobject-linkage)
endif()
if(FROSTLINE_SANITIZE)
  target_compile_options(frostline_options INTERFACE
    -fsanitize=${FROSTLINE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(frostline_options INTERFACE
    -fsanitize=${FROSTLINE_SANITIZE})
endif()

option(FROSTLINE_FAILPOINTS "Named points at which a test can kill a process" OFF)
if(FROSTLINE_FAILPOINTS)
  target_compile_definitions(frostline_options INTERFACE FROSTLINE_FAILPOINTS)
endif()

# `__FILE__` without the clone's own path: a program is the same wherever it was
# built, and ccache has for a second clone what the first one compiled.
add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)

find_program(FROSTLINE_CCACHE ccache)
if(FROSTLINE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FROSTLINE_CCACHE})
endif()
find_program(FROSTLINE_MOLD mold)
find_program(FROSTLINE_LLD ld.lld)
if(FROSTLINE_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(FROSTLINE_LLD)
  add_link_options(-fuse-ld=lld)
endif()
