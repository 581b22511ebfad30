// SPDX-License-Identifier: Apache-2.0
//
// File: sequence_place.h
//
// Trial n gets point n of a fixed sequence, less one for each trial before it
// that is not of the sequence (enqueued, imported), so that these leave no
// hole. A trial is of the sequence, however it ended, when it has the point
// that was due.
#ifndef FROSTLINE_SAMPLER_DRAW_SEQUENCE_PLACE_H_
#define FROSTLINE_SAMPLER_DRAW_SEQUENCE_PLACE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "study/history.h"
#include "study/point.h"

namespace frostline::sampler {

// It is not thread-safe.
class SequencePlace {
 public:
  // `point_at` must always answer the same.
  explicit SequencePlace(std::function<Point(std::int64_t)> point_at);

  std::int64_t PlaceOf(const History& history, std::int64_t number);

 private:
  // Counts only trials below `number`.
  std::int64_t CountForeign(std::int64_t number) const;
  bool IsForeign(const Observation& trial) const;
  void CatchUp(const History& history);
  void JudgeAgain(const Observation& trial);

  std::function<Point(std::int64_t)> point_at_;
  std::int64_t revision_ = 0;
  std::int64_t end_ = 0;               // above the highest number seen
  std::int64_t judged_ = 0;            // all trials below it are judged
  std::vector<std::int64_t> foreign_;  // of these, by rising number
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_SEQUENCE_PLACE_H_
