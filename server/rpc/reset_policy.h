// SPDX-License-Identifier: Apache-2.0
//
// File: reset_policy.h
//
// Says which connections cancel calls faster than anybody does who wants an
// answer ("rapid reset", CVE-2023-44487). gRPC begins and frees such calls
// without a word to us, and keeps about 18 KiB of each meanwhile.
//
// A call is unanswered until its last byte has been sent: parked, at work, or
// cancelled before. Of a connection since it was looked at last:
//
//   unanswered now - unanswered then  <=  at_once + per_second * seconds
//
// At 100 a second and 512 at once: 256 calls that are all parked in one second
// are fine; 1,300 that are cancelled within a tenth of one are not.
#ifndef FROSTLINE_SERVER_RPC_RESET_POLICY_H_
#define FROSTLINE_SERVER_RPC_RESET_POLICY_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"

namespace frostline::server {

struct ResetLimits {
  double per_second = 100;
  double at_once = 512;  // above the streams of a connection
};

// Of one connection, since it began.
struct StreamCounts {
  std::int64_t started = 0;
  std::int64_t answered = 0;
};

// It is thread-compatible. Times do not decrease.
class ResetPolicy {
 public:
  explicit ResetPolicy(const ResetLimits& limits) : limits_(limits) {}

  // Whether the connection is to be cut. `since` is when it began.
  bool IsFlood(const std::string& peer, SteadyTime since,
               const StreamCounts& counts, SteadyTime now);
  void NoteGone(const std::string& peer);

 private:
  struct Look {
    std::int64_t unanswered = 0;
    SteadyTime at{};
  };

  const ResetLimits limits_;
  std::map<std::string, Look> looks_;  // by peer
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_RESET_POLICY_H_
