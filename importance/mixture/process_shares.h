// SPDX-License-Identifier: Apache-2.0
//
// File: process_shares.h
//
// A Gaussian process's drawn effects as shares of a mixture.
//
//   const ProcessShares shares(draws, model, groups);
//   MixtureShares one = shares.SharesOf(7);    // of the eighth draw
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_PROCESS_SHARES_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_PROCESS_SHARES_H_

#include <cstddef>
#include <vector>

#include "importance/mixture/mixture_shares.h"
#include "surrogate/surrogate.h"

namespace frostline::importance {

class ProcessShares {
 public:
  // Keeps references. Pairs and subsets are the model's.
  ProcessShares(const surrogate::EffectDraws& draws, const MixtureModel& shares,
                const std::vector<std::vector<int>>& groups);

  // By pair of the model, its place in the draws.
  const std::vector<std::size_t>& place_of_pair() const {
    return place_of_pair_;
  }
  MixtureShares SharesOf(std::size_t draw) const;

 private:
  // Of all within the set, and of all of it alone.
  double Within(std::vector<int> set, std::size_t draw) const;
  double Beyond(const std::vector<int>& set, std::size_t draw) const;
  // Likewise of what three axes have together.
  double HigherPart(std::vector<int> set, bool own) const;

  const surrogate::EffectDraws& draws_;
  const MixtureModel& shares_;
  const std::vector<std::vector<int>>& groups_;
  std::vector<std::size_t> place_of_pair_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_PROCESS_SHARES_H_
