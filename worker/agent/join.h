// SPDX-License-Identifier: Apache-2.0
//
// File: join.h
//
// A worker that was invited trades its token for a certificate, once. Later it
// starts with the same --join, or without: it finds who it is in its run folder
// (identity.h), and where its coordinator is.
#ifndef FROSTLINE_WORKER_AGENT_JOIN_H_
#define FROSTLINE_WORKER_AGENT_JOIN_H_

#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "base/clock.h"
#include "tls/join.h"
#include "worker/agent/options.h"

namespace frostline::agent {

// Sleeps for so long; false means that the worker is to end.
using JoinPause = std::function<bool(Duration)>;

// Joins if there is a line and no certificate that holds, and sets id, address
// and files of `options` for a worker that has joined; any other stays as it
// is. While nobody answers it asks again. Answers CANCELLED when `pause` says
// so, FINGERPRINT_WRONG where another coordinator answers or was joined before,
// CERTIFICATE_EXPIRED where only a new invitation helps, and what the
// coordinator refuses.
absl::Status SettleIdentity(const std::optional<tls::JoinLine>& line,
                            const Clock& clock, const JoinPause& pause,
                            AgentOptions* options);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_JOIN_H_
