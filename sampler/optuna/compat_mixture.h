// SPDX-License-Identifier: Apache-2.0
//
// File: compat_mixture.h
//
// Optuna's Parzen estimator to the last bit that decides: how the parameters of
// one block are distributed among a set of trials, as a weighted mixture with
// one kernel per trial and a prior. A kernel is the product of its axes. Added
// and sorted in NumPy's order (numpy_sum.h, numpy_sort.h), drawn from its
// stream in Optuna's order: the kernels, then the choices parameter by
// parameter, then all numeric parameters.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_MIXTURE_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_MIXTURE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "sampler/optuna/compat_cells.h"
#include "sampler/optuna/compat_choices.h"
#include "sampler/optuna/compat_kernels.h"
#include "sampler/optuna/numpy_stream.h"
#include "study/domain.h"

namespace frostline::sampler {

// Values by parameter, then by trial or candidate: columns[d][i].
using Columns = std::vector<std::vector<double>>;

class CompatMixture {
 public:
  // `observed` has a column for each domain; `weights` one for each
  // observation, to which the prior's 1 is added. Keeps no reference.
  CompatMixture(const std::vector<const Domain*>& domains,
                const Columns& observed, std::vector<double> weights,
                KernelWidth width);

  Columns Draw(std::size_t count, NumpyStream& stream) const;
  std::vector<double> LogDensity(const Columns& candidates);

  // They sum to 1; the last is the prior's.
  const std::vector<double>& weights() const { return weights_; }

 private:
  // One of choices, line and cells; the kernels of the latter two.
  struct Axis {
    std::optional<CompatChoices> choices;
    std::optional<CompatLine> line;
    std::optional<CompatCells> cells;
    NumericRange range;
    std::vector<NumericKernel> kernels;
  };

  // Numeric parameters all at once, as NumPy draws them.
  void DrawNumeric(const std::vector<std::size_t>& kernels, NumpyStream& stream,
                   Columns& candidates) const;

  std::vector<Axis> axes_;
  std::vector<double> weights_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_MIXTURE_H_
