// SPDX-License-Identifier: Apache-2.0
//
// File: qmc.h
//
// Proposes point n of a Sobol' sequence for trial n, scrambled by the seed of
// the study. A parameter keeps its dimension if its condition is not met.
// Enqueued trials leave no hole.
#ifndef FROSTLINE_SAMPLER_DRAW_QMC_H_
#define FROSTLINE_SAMPLER_DRAW_QMC_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/sampler.h"
#include "study/history.h"
#include "study/space.h"

namespace frostline::sampler {

// Sobol' sequences (1967) fill a cube evenly, best at 2^m points; the direction
// numbers are those of Joe and Kuo, 2008. Scrambling (Owen, 1995) keeps them
// even, makes each point uniform in the cube and gives every seed another
// sequence.

// A scrambled sequence of one seed. Any thread may use it.
class SobolSequence {
 public:
  // REQUIRES: 0 <= dimensions <= kMaxParameters.
  explicit SobolSequence(int dimensions);

  // Returns a fraction of 2^32. Points come in the order of the Gray code;
  // point 0 is the origin.
  std::uint32_t At(std::uint32_t n, std::size_t dimension) const;

 private:
  std::vector<std::array<std::uint32_t, 32>> directions_;
};

// Returns 53 bits in [0, 1): each of the 32 of `coordinate` is flipped or not
// by a coin that depends on all bits before it, the rest are coins. `key` names
// the coins, one for each dimension and seed.
double Scrambled(std::uint32_t coordinate, std::uint64_t key);

// The place of a study in a sequence. Trial n gets point n of a fixed sequence,
// less one for each trial before it that is not of the sequence (enqueued,
// imported), so that these leave no hole. A trial is of the sequence, however
// it ended, when it has the point that was due.
//
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

absl::StatusOr<std::unique_ptr<Sampler>> MakeQmcSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_QMC_H_
