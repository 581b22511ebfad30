// SPDX-License-Identifier: Apache-2.0
//
// File: cell_kernel.h
//
// The kernels of one shape and width say how likely a cell is near a center,
// relative to the prior, so that 1 is "no news":
//
//   r(x | c) = e(c, x) / Z_c,  Z_c = sum over x of prior(x) e(c, x)
//   ordered:   e(c, x) = exp(-(place_x - place_c)^2 / (2 width^2))
//   unordered: e(c, x) = 1 where x = c, else 3 width / (cells - 1)
//
// This is the ordinal kernel of Aitchison and Aitken (Biometrika 63, 1976,
// section 5) with Gaussian weights. Frozen is `frozen_steps` steps below the
// lowest rate.
#ifndef FROSTLINE_SAMPLER_TPE_CELL_KERNEL_H_
#define FROSTLINE_SAMPLER_TPE_CELL_KERNEL_H_

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "sampler/tpe/cell_axis.h"

namespace frostline::sampler {

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

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_CELL_KERNEL_H_
