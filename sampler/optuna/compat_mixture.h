// SPDX-License-Identifier: Apache-2.0
//
// File: compat_mixture.h
//
// A block's estimator is a weighted mixture of one kernel per trial and a
// prior. It adds and sorts in NumPy's order and draws in Optuna's: the kernels,
// then the choices one by one, then all numbers.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_MIXTURE_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_MIXTURE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "sampler/optuna/compat_cells.h"
#include "sampler/optuna/compat_choices.h"
#include "sampler/optuna/compat_kernels.h"
#include "sampler/optuna/numpy.h"
#include "study/space.h"

namespace frostline::sampler {

// A column is a parameter; its rows are trials or candidates: columns[d][i].
using Columns = std::vector<std::vector<double>>;

class CompatMixture {
 public:
  // `observed` has a column for each domain; the prior's 1 is added to
  // `weights`. It keeps no reference.
  CompatMixture(const std::vector<const Domain*>& domains,
                const Columns& observed, std::vector<double> weights,
                KernelWidth width);

  Columns Draw(std::size_t count, NumpyStream& stream) const;
  std::vector<double> LogDensity(const Columns& candidates);

  // They sum to 1; the last is the prior's.
  const std::vector<double>& weights() const { return weights_; }

 private:
  // An axis is one of the three; line and cells have kernels.
  struct Axis {
    std::optional<CompatChoices> choices;
    std::optional<CompatLine> line;
    std::optional<CompatCells> cells;
    NumericRange range;
    std::vector<NumericKernel> kernels;
  };

  // Draws all at once, as NumPy does.
  void DrawNumeric(const std::vector<std::size_t>& kernels, NumpyStream& stream,
                   Columns& candidates) const;

  std::vector<Axis> axes_;
  std::vector<double> weights_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_MIXTURE_H_
