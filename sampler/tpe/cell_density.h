// SPDX-License-Identifier: Apache-2.0
//
// File: cell_density.h
//
// A Parzen estimator relative to the prior. It adds two mixtures, both with one
// kernel per trial and a prior:
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

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "sampler/tpe/cells.h"

namespace frostline::sampler {

// The kernels of one shape and width: how likely a cell is near a center,
// relative to the prior, so that 1 is "no news":
//
//   r(x | c) = e(c, x) / Z_c,  Z_c = sum over x of prior(x) e(c, x)
//   ordered:   e(c, x) = exp(-(place_x - place_c)^2 / (2 width^2))
//   unordered: e(c, x) = 1 where x = c, else 3 width / (cells - 1)
//
// This is the ordinal kernel of Aitchison and Aitken (Biometrika 63, 1976,
// section 5) with Gaussian weights. Frozen is `frozen_steps` steps below the
// lowest rate.

class CellKernel {
 public:
  // Holds, of one cell x, r(x | c) / exp(log_scale) for every center c; it is
  // never 0.
  struct Row {
    std::vector<double> ratio;
    double log_scale = 0.0;
  };

  CellKernel(const CellAxis& axis, double width, double frozen_steps);

  const Row& RowOf(Cell x);
  Cell Draw(Cell center, Rng& rng);
  // Returns prior(x) r(x | c).
  double Probability(Cell center, Cell x) const;

 private:
  double Likeness(std::size_t center, std::size_t x) const;

  const CellAxis& axis_;
  double width_;
  double frozen_steps_;
  std::vector<double> near_;  // e of two bins by bins between
  std::vector<double> norm_;  // Z of every center
  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<std::vector<double>> up_to_;  // by center: cumulated
};

// Keeps the kernels a sampler has used; rounded to a quarter of an octave,
// widths are few. It keeps references to the axes.
class KernelCache {
 public:
  explicit KernelCache(const std::vector<CellAxis>& axes);

  // The kernel is valid as long as the cache.
  CellKernel& Get(std::size_t axis, double width, double frozen_steps);

 private:
  const std::vector<CellAxis>& axes_;
  std::vector<std::size_t> shape_;  // of each axis: the first of its shape
  std::map<std::tuple<std::size_t, int, double>, std::unique_ptr<CellKernel>>
      kernels_;
};

// The arithmetic on which a proposal spends its time.

// Returns minus infinity for 0.
double LogOf(double x);
// Returns ln(exp(a) + exp(b)).
double LogAdd(double a, double b);

struct AxisFactor {
  const double* row = nullptr;    // by center
  const Cell* centers = nullptr;  // by kernel
};
inline constexpr std::size_t kFactors = 4;

// Multiplies products[k] by the factors of kernel k.
void MultiplyBy(const AxisFactor& factor, std::vector<double>& products);
void MultiplyBy(const std::array<AxisFactor, kFactors>& factors,
                std::vector<double>& products);

double SumOfProducts(const double* a, const double* b, std::size_t size);

// The mixture of this file that takes parameters one by one.
class SeparateMixture {
 public:
  // `columns` has the centers by axis, then trial; an absent one is in the cell
  // behind the last. `sum` is that of `prior` and `weights`.
  void Finish(const std::vector<CellAxis>& axes,
              const std::vector<std::vector<Cell>>& columns,
              const std::vector<double>& weights, double prior, double sum);

  // Returns ln q_d(x).
  double LogRatio(std::size_t axis, Cell x, CellKernel& kernel);

 private:
  std::vector<std::vector<double>> centers_;     // weight by axis and cell
  std::vector<std::vector<double>> log_ratios_;  // NaN: not asked for yet
};

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
