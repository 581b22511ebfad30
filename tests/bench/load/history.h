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
#include <map>
#include <set>
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

// A history sorted by trial and attempt: what the workers know.
struct ToldAttempt {
  std::set<std::string> requests;  // that were answered with this attempt
  // The grant happened between these two.
  SteadyTime asked{0};
  SteadyTime granted{0};
  Duration ttl{0};
  // No other attempt may be granted before.
  SteadyTime good_until{0};
  // The worker has said that it is done with it, or that it is another now.
  bool over = false;
  // The outcome that was sent, if any, and all verdicts on it.
  std::string sent;
  double value = 0.0;
  std::set<std::string> verdicts;
  std::map<std::int64_t, double> sent_steps;
  std::map<std::int64_t, double> acknowledged;
};

struct ToldTrial {
  std::map<std::int64_t, ToldAttempt> attempts;
};

using Told = std::map<std::string, ToldTrial>;

// Trials whose names start with `prefix`. What contradicts itself without a
// look at the store goes to `wrong`.
Told Gather(const History& history, const std::string& prefix,
            std::vector<std::string>* wrong);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_HISTORY_H_
