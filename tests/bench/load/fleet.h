// SPDX-License-Identifier: Apache-2.0
//
// File: fleet.h
//
// What a simulated fleet does, and how badly it behaves.
#ifndef FROSTLINE_TESTS_BENCH_LOAD_FLEET_H_
#define FROSTLINE_TESTS_BENCH_LOAD_FLEET_H_

#include <grpcpp/security/credentials.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "base/clock.h"
#include "tests/bench/load/event_loop.h"
#include "tests/bench/load/history.h"

namespace frostline::bench {

// Chances from 0 to 1, drawn anew at each occasion.
struct Chaos {
  double vanish = 0.0;   // at a step: dies without a word, comes back reborn
  double repeat = 0.0;   // an answered request is sent again, word for word
  double silence = 0.0;  // at a step: not a sound for `silent_for`, then on
  double late = 0.0;     // the same just before Finish
  double fail = 0.0;     // the trial ends as FAILED
  double release = 0.0;  // at a step: hands the trial back
  // Longer than a TTL, or it is no silence.
  Duration silent_for = std::chrono::seconds(5);
};

struct LoadOptions {
  std::string connect = "127.0.0.1:7070";
  int workers = 100;
  int per_channel = 1;  // workers that share one connection
  // Full name. Empty: whatever there is; such workers never find an end.
  std::string study = "studies/load";
  // The run ends when the study does, and no later than either of these; 0: no
  // such limit. A cycle is one Acquire with a trial and its accepted Finish.
  Duration time = Duration::zero();
  std::int64_t cycles = 0;
  // What is measured begins so long after the start.
  Duration warm_up = Duration::zero();
  int reports = 0;                    // before each Finish
  int measurements = 1;               // in each report
  Duration think = Duration::zero();  // before each report and the Finish
  Duration wait = std::chrono::seconds(30);  // of the long poll
  // A call that is not answered in this time is sent again; for a long poll
  // its wait comes on top.
  Duration patience = std::chrono::seconds(10);
  std::string worker_prefix = "load";
  std::uint64_t seed = 1;
  Chaos chaos;
  bool keep_history = false;
  // Plaintext when null.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // Called on the load's thread as a worker gets a trial.
  std::function<void(const std::string& trial, SteadyTime)> on_grant;
};

// What a load run counted: answers and their times by method, errors by id.

// The value below which `share` of `sorted` lies; 0 when it is empty.
double Percentile(const std::vector<double>& sorted, double share);

class Figures {
 public:
  void Answered(const std::string& method, Duration took);
  void Failed(const std::string& error_id) { ++errors_[error_id]; }
  void Cycle() { ++cycles_; }
  void Measured(std::int64_t count) { measurements_ += count; }

  std::int64_t cycles() const { return cycles_; }
  std::int64_t measurements() const { return measurements_; }
  std::int64_t Count(const std::string& method) const;
  double Milliseconds(const std::string& method, double share) const;
  const std::map<std::string, std::int64_t>& errors() const { return errors_; }

  // A table for people; `spent` is the time it all took.
  std::string Describe(Duration spent) const;

 private:
  std::int64_t cycles_ = 0;
  std::int64_t measurements_ = 0;
  std::map<std::string, std::vector<double>> times_;  // in milliseconds
  std::map<std::string, std::int64_t> errors_;
};

// What the virtual workers of one run share. Loop thread only, but for the
// atomics.
struct Fleet {
  Fleet(LoadOptions what, const Clock& now)
      : options(std::move(what)), clock(now), loop(now) {}

  const LoadOptions options;
  const Clock& clock;
  EventLoop loop;
  Figures figures;
  History history;  // empty unless it is to be kept
  // A worker has registered for the first time.
  absl::AnyInvocable<void()> on_registered;
  // A worker has found its study ended.
  absl::AnyInvocable<void()> on_ended;
  absl::AnyInvocable<void()> on_cycle;

  std::atomic<std::int64_t> cycles{0};
  std::atomic<std::int64_t> held{0};  // trials that are being worked on
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_FLEET_H_
