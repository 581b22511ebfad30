// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/step_rate.h"

#include <algorithm>

namespace frostline::agent {
namespace {

constexpr Duration kSpan = std::chrono::minutes(1);
constexpr Duration kApart = std::chrono::seconds(1);

}  // namespace

void StepRate::Note(std::int64_t step, SteadyTime now) {
  const std::size_t count = noted_.size();
  const bool is_close = count >= 2 && now - noted_[count - 2].time < kApart;
  if (is_close) noted_.pop_back();
  noted_.push_back({step, now});
  while (noted_.size() > 2 && noted_[1].time <= now - kSpan) {
    noted_.pop_front();
  }
}

double StepRate::At(SteadyTime now) const {
  if (noted_.empty()) return 0.0;
  const Noted& first = noted_.front();
  const Noted& last = noted_.back();
  if (last.time - first.time < kApart) return 0.0;
  const Duration took = std::max(last.time, now - kSpan) - first.time;
  return static_cast<double>(last.step - first.step) /
         std::chrono::duration<double>(took).count();
}

}  // namespace frostline::agent
