// SPDX-License-Identifier: Apache-2.0
//
// File: history.h
//
// What workers asked for and what they were told, event by event: the evidence
// that tests/bench/load/checker.h compares with what the coordinator has kept.
//
// Every request is an invoke, then one of: ok (told), fail (refused for good)
// or unknown (no answer: it may have happened or not). A request sent again
// under the same id is another invoke.
#ifndef FROSTLINE_TESTS_BENCH_LOAD_HISTORY_H_
#define FROSTLINE_TESTS_BENCH_LOAD_HISTORY_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"

namespace frostline::bench {

struct HistoryEvent {
  enum class Op { kRegister, kAcquire, kHeartbeat, kReport, kFinish, kRelease };
  enum class Kind { kInvoke, kOk, kFail, kUnknown };

  SteadyTime time{0};
  Op op = Op::kAcquire;
  Kind kind = Kind::kInvoke;
  std::string worker;  // its id
  std::string id;      // of the request
  // What it is about; an Acquire knows only when it is ok, and only then when
  // there was a trial.
  std::string trial;
  std::int64_t attempt = 0;
  Duration ttl{0};  // of an Acquire that is ok
  // The metric by step, as reported; invokes of Report only.
  std::vector<std::pair<std::int64_t, double>> steps;
  double value = 0.0;  // the final metric; invokes of Finish only
  // Finish: the outcome's kind, then the verdict. Heartbeat, Report: the
  // directive. fail and unknown: the error's id.
  std::string said;
};

using History = std::vector<HistoryEvent>;

const char* NameOf(HistoryEvent::Op op);
const char* NameOf(HistoryEvent::Kind kind);

// JSON lines, one event each.
void WriteHistory(const History& history, std::ostream& out);
// REQUEST_INVALID naming the line that is none.
absl::StatusOr<History> ReadHistory(std::istream& in);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_HISTORY_H_
