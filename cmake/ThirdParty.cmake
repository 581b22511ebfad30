# SPDX-License-Identifier: Apache-2.0
# Everything we did not write, by name, all from the distribution's packages.
# IMPORTED targets are SYSTEM, so their headers never warn.
find_package(Threads REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(SQLite3 3.37 REQUIRED)       # STRICT tables
find_package(CLI11 CONFIG REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)  # of it only `core`
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET GLOBAL cpp-httplib)
find_package(Eigen3 3.3 CONFIG REQUIRED NO_MODULE)
find_program(FROSTLINE_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
if(FROSTLINE_TESTS)
  find_package(GTest CONFIG REQUIRED)
endif()
if(FROSTLINE_TESTS OR FROSTLINE_BENCHES)
  find_package(nlohmann_json CONFIG REQUIRED)
endif()
