// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/point_reads.h"

#include "absl/status/status.h"

namespace frostline::server {

absl::Status CheckWaiting(const CallContext& caller) {
  return caller.hung_up() ? absl::CancelledError("the caller has hung up")
                          : absl::OkStatus();
}

}  // namespace frostline::server
