// SPDX-License-Identifier: Apache-2.0
//
// File: cell_density.h
//
// This Parzen estimator is relative to the prior. It is two mixtures, both with
// one kernel per trial and a prior:
//
//   q(x) = (1 - a) sum_k w_k prod_d r_d(x_d | c_kd)      trials as a whole
//        + a prod_d sum_k w_k r_d(x_d | c_kd)            one by one
//
// The first knows that parameters were good together (BOHB, ICML 2018, section
// 4), the second learns what each adds from fewer trials (Bergstra et al.,
// 2011, section 4). For a parameter that is absent from a trial its kernel
// takes the second's word. Absent ones of x do not count.
#ifndef FROSTLINE_SAMPLER_TPE_CELL_DENSITY_H_
#define FROSTLINE_SAMPLER_TPE_CELL_DENSITY_H_

#include <cstddef>
#include <span>
#include <vector>

#include "sampler/tpe/cell_kernel.h"
#include "sampler/tpe/separate_mixture.h"

namespace frostline::sampler {

// One cell for each parameter, kNoCell where it is absent.
using CellRow = std::vector<Cell>;

class CellDensity {
 public:
  struct Settings {
    double prior_weight = 1.0;    // in trials
    double separate_share = 0.5;  // a
  };

  // `kernels` has one per axis. It keeps references.
  CellDensity(const std::vector<CellAxis>& axes,
              std::vector<CellKernel*> kernels, Settings settings);

  // REQUIRES: nothing was asked yet.
  void Add(std::span<const Cell> cells, double weight);
  void Finish();
  void Reserve(std::size_t trials);

  std::size_t size() const { return weights_.size(); }
  // Sums all trials and the prior, before they were made to sum to 1.
  double mass() const { return mass_; }
  CellKernel& kernel(std::size_t axis) const { return *kernels_[axis]; }
  // REQUIRES: kernel < size().
  Cell At(std::size_t axis, std::size_t kernel) const;

  // Returns ln q(x).
  double LogRatio(const CellRow& x);
  // Returns ln q of x for every cell of `axis`. REQUIRES: the last call of
  // LogRatio was for `x`; axis is exact.
  void LogRatiosOfMoves(const CellRow& x, std::size_t axis,
                        std::vector<double>& out);

  // Draws by weight; size() is the prior.
  std::size_t DrawKernel(Rng& rng) const;
  bool DrawSeparately(Rng& rng) const {
    return rng.Uniform() < settings_.separate_share;
  }

 private:
  // Returns r(x | every center of axis) and, last, what an absent one counts.
  std::span<const double> Row(std::size_t axis, Cell x);
  double LogSeparate(std::size_t axis, Cell x);
  double Mix(double log_together, double log_separate) const;

  const std::vector<CellAxis>& axes_;
  std::vector<CellKernel*> kernels_;
  Settings settings_;
  std::vector<std::vector<Cell>> columns_;
  std::vector<double> weights_;
  double mass_ = 0.0;
  std::vector<double> up_to_;
  SeparateMixture separate_;
  std::vector<bool> has_absent_;
  std::vector<std::vector<double>> scratch_;
  // These belong to the x last asked for.
  std::vector<double> products_;
  double log_scale_ = 0.0;
  double log_separate_ = 0.0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_CELL_DENSITY_H_
