# SPDX-License-Identifier: Apache-2.0
# frostline_proto(NAME ROOT dir PROTOS a.proto ...): messages and gRPC stubs of
# the files below ROOT as one library whose headers are SYSTEM.
function(frostline_proto NAME)
  cmake_parse_arguments(ARG "" "ROOT" "PROTOS" ${ARGN})
  set(OUT ${CMAKE_BINARY_DIR}/gen)
  file(MAKE_DIRECTORY ${OUT})
  set(SRCS)
  # Every stub depends on every file: imports are few and a stale stub is dear.
  list(TRANSFORM ARG_PROTOS PREPEND ${ARG_ROOT}/ OUTPUT_VARIABLE ABSOLUTE)
  foreach(PROTO ${ARG_PROTOS})
    string(REGEX REPLACE "\\.proto$" "" STEM ${PROTO})
    set(GEN ${OUT}/${STEM}.pb.cc ${OUT}/${STEM}.grpc.pb.cc)
    add_custom_command(
      OUTPUT ${GEN} ${OUT}/${STEM}.pb.h ${OUT}/${STEM}.grpc.pb.h
      COMMAND protobuf::protoc -I ${ARG_ROOT} --cpp_out=${OUT}
              --grpc_out=${OUT}
              --plugin=protoc-gen-grpc=${FROSTLINE_GRPC_PLUGIN} ${PROTO}
      DEPENDS ${ABSOLUTE} VERBATIM)
    list(APPEND SRCS ${GEN})
  endforeach()
  add_library(frostline_${NAME} STATIC ${SRCS})
  # What protoc writes has the same private names in every file.
  set_target_properties(frostline_${NAME} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(frostline_${NAME} SYSTEM PUBLIC ${OUT})
  target_link_libraries(frostline_${NAME}
    PUBLIC protobuf::libprotobuf gRPC::grpc++)
  add_library(frostline::${NAME} ALIAS frostline_${NAME})
endfunction()

# frostline_descriptor_set(frostline.v1 ROOT dir PROTOS a.proto ...): beside the
# programs NAME.binpb, a FileDescriptorSet for tools and for clients without stubs:
# those files with all that they import, and their comments.
function(frostline_descriptor_set NAME)
  cmake_parse_arguments(ARG "" "ROOT" "PROTOS" ${ARGN})
  set(OUT ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${NAME}.binpb)
  list(TRANSFORM ARG_PROTOS PREPEND ${ARG_ROOT}/ OUTPUT_VARIABLE ABSOLUTE)
  add_custom_command(
    OUTPUT ${OUT}
    COMMAND protobuf::protoc -I ${ARG_ROOT} --include_imports
            --include_source_info --descriptor_set_out=${OUT} ${ARG_PROTOS}
    DEPENDS ${ABSOLUTE} VERBATIM)
  add_custom_target(${NAME}.binpb ALL DEPENDS ${OUT})
endfunction()
