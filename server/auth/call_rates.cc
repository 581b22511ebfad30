// SPDX-License-Identifier: Apache-2.0
#include "server/auth/call_rates.h"

#include <algorithm>
#include <chrono>

namespace frostline::server {
namespace {

// Beyond it those that are full again are forgotten: they are as new ones.
constexpr std::size_t kManyBuckets = 4'096;

}  // namespace

double CallRates::Fill(const Bucket& bucket, SteadyTime now) const {
  const double waited_s =
      std::chrono::duration<double>(now - bucket.filled).count();
  return std::min(limit_.burst, bucket.calls + waited_s * limit_.calls_per_s);
}

bool CallRates::Take(const std::string& who, SteadyTime now) {
  const MutexLock lock(&mutex_);
  if (buckets_.size() >= kManyBuckets) ForgetFull(now);
  Bucket& bucket = buckets_.try_emplace(who, limit_.burst, now).first->second;
  bucket.calls = Fill(bucket, now);
  bucket.filled = now;
  if (bucket.calls < 1.0) return false;
  bucket.calls -= 1.0;
  return true;
}

void CallRates::ForgetFull(SteadyTime now) {
  std::erase_if(buckets_, [&](const auto& one) {
    return Fill(one.second, now) >= limit_.burst;
  });
}

std::size_t CallRates::size() const {
  const MutexLock lock(&mutex_);
  return buckets_.size();
}

}  // namespace frostline::server
