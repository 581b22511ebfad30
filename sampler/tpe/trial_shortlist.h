// SPDX-License-Identifier: Apache-2.0
//
// File: trial_shortlist.h
//
// Adding a trial costs the same however many there were.
#ifndef FROSTLINE_SAMPLER_TPE_TRIAL_SHORTLIST_H_
#define FROSTLINE_SAMPLER_TPE_TRIAL_SHORTLIST_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sampler/split.h"

namespace frostline::sampler {

struct RankedTrial {
  SplitGroup group = SplitGroup::kFinished;
  double first = 0.0, second = 0.0;  // as in SplitKey
  std::int64_t number = 0;
  std::uint32_t index = 0;  // in History::trials()
};

class TrialShortlist {
 public:
  // So many of the best and of all are kept at hand.
  static constexpr std::size_t kBest = 64;
  static constexpr std::size_t kSample = 640;

  // Takes trials with or without a result.
  void AddToSample(std::int64_t number, std::uint32_t index);
  // REQUIRES: the trial has a result.
  void Rank(const RankedTrial& trial);
  void Clear();

  // They are at most kBest; of equal ones the older is better.
  const std::vector<RankedTrial>& best() const { return best_; }
  // Returns indices of all or, beyond kSample + kBest, of a sample that changes
  // little from call to call.
  std::vector<std::uint32_t> Sample() const;

 private:
  std::vector<RankedTrial> best_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sample_;  // by lot
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_TRIAL_SHORTLIST_H_
