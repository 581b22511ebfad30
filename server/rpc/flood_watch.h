// SPDX-License-Identifier: Apache-2.0
//
// File: flood_watch.h
//
// Looks at connections that are in, and answers which are to end: who cancels
// calls without end, and, when somebody else needs the place, who never called.
// It ends none itself.
#ifndef FROSTLINE_SERVER_RPC_FLOOD_WATCH_H_
#define FROSTLINE_SERVER_RPC_FLOOD_WATCH_H_

#include <optional>
#include <vector>

#include "base/clock.h"
#include "server/rpc/connection_book.h"
#include "server/rpc/reset_policy.h"
#include "server/rpc/stream_census.h"

namespace frostline::server {

// It is thread-compatible.
class FloodWatch {
 public:
  explicit FloodWatch(const ResetLimits& limits) : policy_(limits) {}

  // Looks at single connections only when calls of all of them together go
  // unanswered, and at those alone that have sent something.
  std::vector<Connection> Floods(ConnectionBook& book, SteadyTime now);

  // Those that began before `since`, and are known to have begun no call.
  std::vector<Connection> WithoutACall(const ConnectionBook& book,
                                       SteadyTime since);

  void NoteGone(const Connection& gone) { policy_.NoteGone(gone.from.text); }

 private:
  // Of each of `asked`, in their order.
  std::vector<std::optional<StreamCounts>> CountsOf(
      const std::vector<Connection>& asked);

  ResetPolicy policy_;
  StreamCensus census_;
  std::int64_t unanswered_ = 0;  // of all, when looked at last
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_FLOOD_WATCH_H_
