// SPDX-License-Identifier: Apache-2.0
//
// File: load_history.h
//
// How busy the workers' GPUs were. Only people look at it, so it is kept in
// memory alone, in few bytes: of each GPU one byte for each minute of the last
// hour, and one for each quarter of an hour of the last week.
//
//   said at 12:00:10 and 12:00:50 that 40 % and 60 % were busy
//   the minute of 12:00:  50;  that of 12:01, in which nobody spoke:  kNotKnown
#ifndef FROSTLINE_SERVER_LEDGER_LOAD_HISTORY_H_
#define FROSTLINE_SERVER_LEDGER_LOAD_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::server {

// The means of a number between 0 and 1 over equal steps of time, the latest so
// many of them.
class MeansOverTime {
 public:
  static constexpr std::uint8_t kNotKnown = 255;

  MeansOverTime(Duration step, std::size_t count)
      : step_(step), means_(count, kNotKnown) {}

  // A clock that was set back by more than a step begins anew.
  void Add(double part, WallMicros now);
  // Returns the latest `count` steps in per cent, the last of them that of
  // `now`.
  std::string Latest(std::size_t count, WallMicros now) const;

 private:
  std::int64_t StepOf(WallMicros time) const;
  std::uint8_t& At(std::int64_t step);

  Duration step_;
  std::vector<std::uint8_t> means_;  // by step, modulo their number
  std::int64_t last_ = 0;            // the step of the last number
  double sum_ = 0.0;                 // of its numbers
  int numbers_ = 0;                  // 0: there has been none at all
};

// What heartbeats said of the GPUs of all workers. The loop posts and removes,
// readers look: any thread may call. A worker has at most kMostGpus, those that
// were heard of last.
class LoadBoard {
 public:
  static constexpr std::size_t kMostGpus = 64;
  static constexpr Duration kFineStep = std::chrono::minutes(1);
  static constexpr Duration kCoarseStep = std::chrono::minutes(15);
  static constexpr std::size_t kFineSteps = 60;
  static constexpr std::size_t kCoarseSteps = 7 * 24 * 4;

  void Post(const std::string& worker, const v1::NodeLoad& said,
            WallMicros now);
  void Remove(const std::string& worker);

  // Returns as much as is kept of the time `over` before now; nothing if the
  // worker has said nothing in it.
  std::optional<v1::LoadHistory> Of(const std::string& worker, Duration over,
                                    WallMicros now) const;

 private:
  struct Gpu {
    MeansOverTime fine{kFineStep, kFineSteps};
    MeansOverTime coarse{kCoarseStep, kCoarseSteps};
    WallMicros heard = 0;
  };
  using Gpus = std::map<std::string, Gpu>;  // by uuid

  static Gpu& Place(Gpus& gpus, const std::string& uuid);

  mutable Mutex mutex_;
  std::map<std::string, Gpus> workers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_LOAD_HISTORY_H_
