// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/library_logs.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <string>

#include "base/log.h"

namespace frostline::server {

void SendLibraryLogsToOurs() {
  gpr_set_log_function([](gpr_log_func_args* args) {
    Log(args->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning
                                                 : LogLevel::kDebug,
        "grpc", {{"says", args->message}});
  });
  google::protobuf::SetLogHandler([](google::protobuf::LogLevel, const char*,
                                     int, const std::string& message) {
    Log(LogLevel::kDebug, "protobuf", {{"says", message}});
  });
}

}  // namespace frostline::server
