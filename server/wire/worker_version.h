// SPDX-License-Identifier: Apache-2.0
//
// File: worker_version.h
//
// Within v1 the contract only grows, but what the two sides do with it changes
// from version to version. A fleet is upgraded bit by bit, so a coordinator
// serves workers of one minor version before and after its own:
//
//   coordinator 0.4.2: workers of 0.3.0 … 0.5.9, not 0.2.1, 0.6.0 or 1.4.0
#ifndef FROSTLINE_SERVER_WIRE_WORKER_VERSION_H_
#define FROSTLINE_SERVER_WIRE_WORKER_VERSION_H_

#include <string>

#include "absl/status/status.h"

namespace frostline::server {

// Returns REQUEST_INVALID at worker.version. Who says none, or one that is no
// number, is a worker of somebody's own, and is served.
absl::Status CheckWorkerVersion(const std::string& workers,
                                const std::string& ours);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_WORKER_VERSION_H_
