// SPDX-License-Identifier: Apache-2.0
//
// File: sequence_place.h
//
// Which point of a fixed sequence a trial is due. Trial n gets point n, as long
// as every trial comes from the sequence. Trials that do not (enqueued,
// imported) take a number but no point, so that they leave no hole in the
// sequence; trials of the sequence keep theirs however they end, retries
// included.
//
// A history does not say where a trial came from: one whose point is the one
// that was due is taken to be of the sequence, for either way that point is
// covered.
#ifndef FROSTLINE_SAMPLER_DRAW_SEQUENCE_PLACE_H_
#define FROSTLINE_SAMPLER_DRAW_SEQUENCE_PLACE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "study/history.h"
#include "study/point.h"

namespace frostline::sampler {

// Not thread-safe.
class SequencePlace {
 public:
  // `point_at` is the sequence; it must always answer the same.
  explicit SequencePlace(std::function<Point(std::int64_t)> point_at);

  // The place of trial `number`: a function of the trials below it. Reads what
  // changed since the last call.
  std::int64_t PlaceOf(const History& history, std::int64_t number);

 private:
  // How many trials below `number` are not of the sequence.
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
