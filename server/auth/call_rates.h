// SPDX-License-Identifier: Apache-2.0
//
// File: call_rates.h
//
// A bucket of calls for each identity, so that one cannot take the others'
// share. With c calls left t seconds ago, a call now finds
//
//   min(burst, c + t * rate)     rate 2, burst 4: 4 at once, then 1 every .5 s
#ifndef FROSTLINE_SERVER_AUTH_CALL_RATES_H_
#define FROSTLINE_SERVER_AUTH_CALL_RATES_H_

#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace frostline::server {

struct RateLimit {
  double calls_per_s = 5'000.0;
  double burst = 20'000.0;
};

// Any thread may call.
class CallRates {
 public:
  explicit CallRates(RateLimit limit = {}) : limit_(limit) {}

  // Says whether one more call of this identity is within its share, and counts
  // it.
  bool Take(const std::string& who, SteadyTime now);
  // Counts identities that are remembered: those that called lately.
  std::size_t size() const;

 private:
  struct Bucket {
    double calls;
    SteadyTime filled;
  };
  void ForgetFull(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double Fill(const Bucket& bucket, SteadyTime now) const;

  const RateLimit limit_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_CALL_RATES_H_
