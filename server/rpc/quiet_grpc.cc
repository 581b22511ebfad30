// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/quiet_grpc.h"

#include <grpc/support/log.h>

#include "base/log.h"

namespace frostline {

void SendGrpcLogToOurs() {
  gpr_set_log_function([](gpr_log_func_args* args) {
    Log(args->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning
                                                 : LogLevel::kDebug,
        "grpc", {{"says", args->message}});
  });
}

}  // namespace frostline
