// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/reset_policy.h"

namespace frostline::server {

bool ResetPolicy::IsFlood(const std::string& peer, SteadyTime since,
                          const StreamCounts& counts, SteadyTime now) {
  const auto [found, is_new] =
      looks_.try_emplace(peer, Look{.unanswered = 0, .at = since});
  Look& last = found->second;
  const std::int64_t unanswered = counts.started - counts.answered;
  const std::chrono::duration<double> passed = now - last.at;
  const double allowed = limits_.at_once + limits_.per_second * passed.count();
  const bool is_flood =
      static_cast<double>(unanswered - last.unanswered) > allowed;
  last = {.unanswered = unanswered, .at = now};
  return is_flood;
}

void ResetPolicy::NoteGone(const std::string& peer) { looks_.erase(peer); }

}  // namespace frostline::server
