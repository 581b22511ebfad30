// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/sequence_place.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace frostline::sampler {
namespace {

// Stored numbers may have lost their last digit.
bool IsAlmost(const Point& a, const Point& b) {
  constexpr double kRelative = 1e-9;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) {
                      if (IsAbsent(x) || IsAbsent(y))
                        return IsAbsent(x) && IsAbsent(y);
                      return std::abs(x - y) <=
                             kRelative * std::max(std::abs(x), std::abs(y));
                    });
}

}  // namespace

SequencePlace::SequencePlace(std::function<Point(std::int64_t)> point_at)
    : point_at_(std::move(point_at)) {}

std::int64_t SequencePlace::CountForeign(std::int64_t number) const {
  return std::lower_bound(foreign_.begin(), foreign_.end(), number) -
         foreign_.begin();
}

bool SequencePlace::IsForeign(const Observation& trial) const {
  const std::int64_t place = trial.number - CountForeign(trial.number);
  return !IsAlmost(trial.point, point_at_(place));
}

void SequencePlace::JudgeAgain(const Observation& trial) {
  if (trial.number >= judged_) return;
  const auto found =
      std::lower_bound(foreign_.begin(), foreign_.end(), trial.number);
  const bool was_foreign = found != foreign_.end() && *found == trial.number;
  if (IsForeign(trial) == was_foreign) return;
  // Everybody after it is due another point.
  foreign_.erase(found, foreign_.end());
  judged_ = trial.number;
}

void SequencePlace::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = end_ = judged_ = 0;
    foreign_.clear();
  }
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    end_ = std::max(end_, history.trials()[i].number + 1);
    JudgeAgain(history.trials()[i]);
  }
}

std::int64_t SequencePlace::PlaceOf(const History& history,
                                    std::int64_t number) {
  CatchUp(history);
  for (; judged_ < std::min(number, end_); ++judged_) {
    const Observation* const trial = history.Find(judged_);
    if (trial != nullptr && IsForeign(*trial)) foreign_.push_back(judged_);
  }
  return number - CountForeign(number);
}

}  // namespace frostline::sampler
