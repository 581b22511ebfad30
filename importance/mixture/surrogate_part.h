// SPDX-License-Identifier: Apache-2.0
//
// File: surrogate_part.h
//
// The Gaussian process has a part as far as it predicts trials not seen better
// than level effects and a forest:
//
//   weight = argmin_w Σ_i (w g_i + (1 - w) m_i)²  + k D (w - w0)²
//
// with g_i, m_i what each misses of trial i left out (stacking; Wolpert, 1992;
// Breiman, 1996), D their mean squared difference, so few trials leave the
// weight near w0. Shares are weighted means, draws are one's or the other's by
// weight (Yao et al., 2018).
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_SURROGATE_PART_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_SURROGATE_PART_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "importance/mixture/drawn_shares.h"
#include "importance/mixture/mixture.h"
#include "importance/mixture/mixture_shares.h"
#include "study/space.h"

namespace frostline::importance {

struct SurrogatePart {
  double weight = 0.0;  // 0: no part, and nothing else is known
  double r2 = 0.0;      // of both together, on trials not seen
  double noise_share = 0.0;
  DrawnShares drawn;
  std::vector<std::vector<double>> curves;  // by cell; lower is better
  // Holds by axis the chance that higher values are better; NaN without an
  // order.
  std::vector<double> rising_probability;
  // Holds for MixtureModel::pairs() the chance that both trained are worth less
  // than each alone promises; NaN without a frozen cell.
  std::vector<double> substitutes_probability;
};

struct SurrogatePartOptions {
  std::uint64_t seed = 0;
  bool intervals = true;
  std::stop_token stop = {};
};

// Trials at `hopeless` could not be trained and count as the worst, with doubt.
// The process learns them; the mixture is believed less for missing them. There
// is no part above kMaxSurrogateAxes parameters. After a stop it is any part.
SurrogatePart MakeSurrogatePart(const Space& space, const LevelEffects& model,
                                const Mixture& mixture,
                                const MixtureModel& shares,
                                const std::vector<std::vector<int>>& groups,
                                const std::vector<double>& targets,
                                const std::vector<FinePoint>& hopeless,
                                const SurrogatePartOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_SURROGATE_PART_H_
