// SPDX-License-Identifier: Apache-2.0
#include "tls/idle_connections.h"

#include <cstdlib>

namespace frostline::tls {

void LookAfterIdleConnections() {
  setenv("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", "200",
         /*overwrite=*/0);
}

}  // namespace frostline::tls
