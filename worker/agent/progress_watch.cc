// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/progress_watch.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace frostline::agent {
namespace {

constexpr int kStartFactor = 6;
constexpr int kStepFactor = 10;
constexpr std::size_t kMostIntervals = 101;
// Between two looks; what is longer was no silence of the trainer.
constexpr Duration kLongestLook = std::chrono::seconds(10);

Duration MedianOf(const std::deque<Duration>& durations) {
  std::vector<Duration> sorted(durations.begin(), durations.end());
  const auto middle =
      sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double SecondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

ProgressWatch::ProgressWatch(Duration floor, SteadyTime now)
    : floor_(floor), seen_(now) {}

void ProgressWatch::Look(SteadyTime now) {
  const Duration passed = std::min(now - seen_, kLongestLook);
  seen_ = now;
  silence_ += passed;
  since_step_ += passed;
}

void ProgressWatch::NoteStep(SteadyTime now) {
  Look(now);
  if (stepped_) {
    intervals_.push_back(since_step_);
    if (intervals_.size() > kMostIntervals) intervals_.pop_front();
  }
  stepped_ = true;
  silence_ = since_step_ = Duration::zero();
}

void ProgressWatch::NoteSign(SteadyTime now) {
  Look(now);
  silence_ = Duration::zero();
}

Duration ProgressWatch::patience() const {
  if (!stepped_) return floor_ * kStartFactor;
  if (intervals_.empty()) return floor_;
  return std::max(floor_, MedianOf(intervals_) * kStepFactor);
}

bool ProgressWatch::hangs() const {
  // The floor first: the median is worth its price only for the very quiet.
  return floor_ > Duration::zero() && silence_ >= floor_ &&
         silence_ >= patience();
}

std::string ProgressWatch::Describe() const {
  const std::string quiet =
      absl::StrFormat("no progress for %.4g s", SecondsOf(silence_));
  if (!stepped_) {
    return absl::StrCat(quiet, ", before the first step (suspected hang)");
  }
  if (intervals_.empty()) {
    return absl::StrCat(quiet, ", after the first step (suspected hang)");
  }
  return absl::StrCat(quiet,
                      absl::StrFormat("; steps took %.4g s before",
                                      SecondsOf(MedianOf(intervals_))),
                      " (suspected hang)");
}

}  // namespace frostline::agent
