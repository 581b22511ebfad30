// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/flood_watch.h"

#include <utility>

namespace frostline::server {
namespace {

// So many more unanswered calls since the last look are nobody's attack.
constexpr std::int64_t kFewCalls = 25;
// A call is at least two dozen bytes: who sent fewer did not begin kFewCalls.
constexpr std::uint64_t kFewBytes = 512;

}  // namespace

std::vector<Connection> FloodWatch::Floods(ConnectionBook& book,
                                           SteadyTime now) {
  if (book.size() == 0) return {};
  const StreamCounts total = StreamCensus::Total();
  const std::int64_t before =
      std::exchange(unanswered_, total.started - total.answered);
  if (unanswered_ - before <= kFewCalls) return {};
  const std::vector<Connection> busy = book.SentAtLeast(kFewBytes);
  const auto counts = CountsOf(busy);
  std::vector<Connection> floods;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (!counts[i].has_value()) continue;
    if (policy_.IsFlood(busy[i].from.text, busy[i].since, *counts[i], now)) {
      floods.push_back(busy[i]);
    }
  }
  return floods;
}

std::vector<Connection> FloodWatch::WithoutACall(const ConnectionBook& book,
                                                 SteadyTime since) {
  const std::vector<Connection> old = book.Before(since);
  const auto counts = CountsOf(old);
  std::vector<Connection> idle;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (counts[i].has_value() && counts[i]->started == 0) {
      idle.push_back(old[i]);
    }
  }
  return idle;
}

std::vector<std::optional<StreamCounts>> FloodWatch::CountsOf(
    const std::vector<Connection>& asked) {
  std::vector<std::optional<StreamCounts>> counts;
  bool listed = false;
  for (const Connection& connection : asked) {
    auto found = census_.Of(connection.from.text);
    if (!found.has_value() && !listed) {
      census_.ListAll();
      listed = true;
      found = census_.Of(connection.from.text);
    }
    counts.push_back(found);
  }
  return counts;
}

}  // namespace frostline::server
