# SPDX-License-Identifier: Apache-2.0
# LibTorch::torch_cpu and LibTorch::c10, without TorchConfig.cmake: that one
# demands a CUDA toolkit even where only the CPU library is linked.
#
# Looked for in this order:
#   -DFROSTLINE_LIBTORCH=DIR  a pip-installed torch/ folder, the vendor's
#                             unpacked zip, or a folder that contains torch/
#   the cache that `./dev setup` fills, for exactly the pinned wheels
set(FROSTLINE_LIBTORCH "" CACHE PATH "A LibTorch >= 2.6 to use instead of ours")
set(LIBTORCH_MINIMUM 2.6)

# Sets OUT to where `./dev setup` unpacks the wheels pinned in the repository.
function(libtorch_cache_folder OUT)
  if(NOT "$ENV{FROSTLINE_CACHE}" STREQUAL "")
    set(CACHE_DIR "$ENV{FROSTLINE_CACHE}")
  elseif(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(CACHE_DIR "$ENV{XDG_CACHE_HOME}/frostline")
  else()
    set(CACHE_DIR "$ENV{HOME}/.cache/frostline")
  endif()
  set(PINS ${CMAKE_SOURCE_DIR}/scripts/requirements-libtorch.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PINS})
  file(SHA256 ${PINS} KEY)
  string(SUBSTRING ${KEY} 0 12 KEY)
  set(${OUT} ${CACHE_DIR}/libtorch-${KEY} PARENT_SCOPE)
endfunction()

# Sets OUT to major.minor.patch as the headers below ROOT say, empty if they
# do not: version.h moved and its macros changed over the years.
function(libtorch_version ROOT OUT)
  set(${OUT} "" PARENT_SCOPE)
  foreach(HEADER torch/headeronly/version.h
          torch/csrc/api/include/torch/version.h)
    if(NOT EXISTS ${ROOT}/include/${HEADER})
      continue()
    endif()
    file(STRINGS ${ROOT}/include/${HEADER} LINES
         REGEX "^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    set(NUMBERS)
    foreach(LINE ${LINES})
      string(REGEX REPLACE ".* ([0-9]+)$" "\\1" NUMBER ${LINE})
      list(APPEND NUMBERS ${NUMBER})
    endforeach()
    list(LENGTH NUMBERS COUNT)
    if(COUNT EQUAL 3)
      list(JOIN NUMBERS . VERSION)
      set(${OUT} ${VERSION} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

if(FROSTLINE_LIBTORCH)
  set(ROOT ${FROSTLINE_LIBTORCH})
  set(FIX "name a folder with include/ and lib/libtorch_cpu.so, e.g. the torch/ folder of a pip installation")
else()
  libtorch_cache_folder(ROOT)
  set(FIX "run `./dev setup`, or name another LibTorch with -DFROSTLINE_LIBTORCH=DIR")
endif()
if(NOT EXISTS ${ROOT}/lib/libtorch_cpu.so AND EXISTS ${ROOT}/torch/lib)
  set(ROOT ${ROOT}/torch)
endif()
if(NOT EXISTS ${ROOT}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "No LibTorch in ${ROOT}: ${FIX}.")
endif()
libtorch_version(${ROOT} LibTorch_VERSION)
if(NOT LibTorch_VERSION)
  message(FATAL_ERROR
    "${ROOT} does not say which LibTorch it is (no torch/version.h): ${FIX}.")
endif()
if(LibTorch_VERSION VERSION_LESS LIBTORCH_MINIMUM)
  message(FATAL_ERROR "LibTorch ${LibTorch_VERSION} in ${ROOT} is older than "
    "${LIBTORCH_MINIMUM}: take a newer one, or leave FROSTLINE_LIBTORCH out to "
    "use the one of `./dev setup`.")
endif()

# Built with CUDA, libtorch_cpu itself needs the CUDA runtime libraries; pip
# puts them beside torch/, each in a folder of its own.
file(GLOB LIBTORCH_BESIDE LIST_DIRECTORIES true ${ROOT}/../nvidia/*/lib)
set(LIBTORCH_RPATHS ${ROOT}/lib)
foreach(FOLDER ${LIBTORCH_BESIDE})
  get_filename_component(FOLDER ${FOLDER} ABSOLUTE)
  list(APPEND LIBTORCH_RPATHS ${FOLDER})
endforeach()

function(libtorch_import NAME)
  if(TARGET LibTorch::${NAME})
    return()
  endif()
  add_library(LibTorch::${NAME} SHARED IMPORTED)
  # Old dtags write RPATH, which the libraries below inherit; RUNPATH is not
  # inherited, and LD_LIBRARY_PATH would reach every child of the trainer.
  list(TRANSFORM LIBTORCH_RPATHS PREPEND "-Wl,-rpath," OUTPUT_VARIABLE RPATHS)
  list(TRANSFORM LIBTORCH_RPATHS PREPEND "-Wl,-rpath-link,"
       OUTPUT_VARIABLE RPATH_LINKS)
  set_target_properties(LibTorch::${NAME} PROPERTIES
    IMPORTED_LOCATION ${ROOT}/lib/lib${NAME}.so
    INTERFACE_INCLUDE_DIRECTORIES
      "${ROOT}/include;${ROOT}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS _GLIBCXX_USE_CXX11_ABI=1
    INTERFACE_LINK_OPTIONS
      "-Wl,--disable-new-dtags;${RPATHS};${RPATH_LINKS}")
endfunction()
libtorch_import(c10)
libtorch_import(torch_cpu)
set_property(TARGET LibTorch::torch_cpu
  PROPERTY INTERFACE_LINK_LIBRARIES LibTorch::c10)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS ROOT VERSION_VAR LibTorch_VERSION)
