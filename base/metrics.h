// SPDX-License-Identifier: Apache-2.0
//
// File: metrics.h
//
// Counters and histograms for those who watch the service. A room owns what it
// counts, and does not know how or by whom it is read:
//
//   struct LoopCounts { Counter groups; Histogram commit_seconds; };
//   counts_.groups.Add();
//
// Any thread may count and read: an addition is relaxed and atomic, without
// lock or allocation, and takes some nanoseconds. A reader may see one count of
// an event before another.
#ifndef FROSTLINE_BASE_METRICS_H_
#define FROSTLINE_BASE_METRICS_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"

namespace frostline {

// A number that only rises.
class Counter {
 public:
  void Add(std::int64_t more = 1) {
    value_.fetch_add(more, std::memory_order_relaxed);
  }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

// A value that goes up and down, as it was last set.
class Level {
 public:
  void Set(std::int64_t value) {
    value_.store(value, std::memory_order_relaxed);
  }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

// Bounds from half a millisecond, a quick call, to two minutes, a slow report.
inline constexpr std::array kSecondsBounds = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25,   0.5,   1.0,    2.5,   10.0, 30.0,  120.0};
inline constexpr std::array kSizeBounds = {1.0,  2.0,  4.0,   8.0,  16.0,
                                           32.0, 64.0, 128.0, 256.0};

// Counts values by the lowest bound that is not below them:
//
//   bounds 1, 10; values 0.5, 1, 7, 70: counts 2, 1, 1
class Histogram {
 public:
  // `bounds` rise, are at most kMostBounds, and must outlive this object.
  explicit Histogram(std::span<const double> bounds = kSecondsBounds)
      : bounds_(bounds) {}

  void Observe(double value) {
    std::size_t at = 0;
    while (at < bounds_.size() && value > bounds_[at]) ++at;
    counts_[at].Add();
    millionths_.Add(static_cast<std::int64_t>(value * 1e6));
  }
  void Observe(Duration took) {
    Observe(std::chrono::duration<double>(took).count());
  }

  std::span<const double> bounds() const { return bounds_; }
  // Returns a count for each bound, and one for values above the last.
  std::vector<std::int64_t> Counts() const {
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i <= bounds_.size(); ++i) {
      counts.push_back(counts_[i].value());
    }
    return counts;
  }
  std::int64_t Count() const {
    std::int64_t count = 0;
    for (const std::int64_t in_bucket : Counts()) count += in_bucket;
    return count;
  }
  double Sum() const { return static_cast<double>(millionths_.value()) / 1e6; }

  static constexpr std::size_t kMostBounds = kSecondsBounds.size();

 private:
  const std::span<const double> bounds_;
  std::array<Counter, kMostBounds + 1> counts_;
  Counter millionths_;  // of the sum
};

}  // namespace frostline

#endif  // FROSTLINE_BASE_METRICS_H_
