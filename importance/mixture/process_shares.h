// SPDX-License-Identifier: Apache-2.0
//
// File: process_shares.h
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

  // Goes by pair of the model.
  const std::vector<std::size_t>& place_of_pair() const {
    return place_of_pair_;
  }
  MixtureShares SharesOf(std::size_t draw) const;

 private:
  // Take all within the set, and all of it alone.
  double Within(std::vector<int> set, std::size_t draw) const;
  double Beyond(const std::vector<int>& set, std::size_t draw) const;
  // Takes likewise what three axes have together.
  double HigherPart(std::vector<int> set, bool own) const;

  const surrogate::EffectDraws& draws_;
  const MixtureModel& shares_;
  const std::vector<std::vector<int>>& groups_;
  std::vector<std::size_t> place_of_pair_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_PROCESS_SHARES_H_
