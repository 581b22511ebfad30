// SPDX-License-Identifier: Apache-2.0
//
// File: compat_mixture.h
//
// The estimator of a block: a weighted mixture of one kernel per trial and a
// prior, each a product over the parameters d of the block:
//
//   p(x) = sum over k of w_k prod over d of p_kd(x_d)
//
// Optuna proposes the candidate that maximises ln l(x) - ln g(x), with l over
// good trials and g over the others (Bergstra et al., "Algorithms for
// Hyper-Parameter Optimization", NeurIPS 2011, section 4; "Making a Science of
// Model Search", ICML 2013). This adds and sorts in NumPy's order and draws in
// Optuna's: the kernels, then the choices one by one, then all numbers.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_MIXTURE_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_MIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sampler/draw/random.h"
#include "sampler/optuna/numpy.h"
#include "study/space.h"

namespace frostline::sampler {

// random.h is more accurate than these, but among equally good candidates the
// last bit decides which one Optuna proposes.

// Returns ln P(a <= X <= b). REQUIRES: a < b.
double CompatLogMass(double a, double b);

double CompatLogPdf(double x);

struct CompatQuantile {
  double share = 0.0;  // of the mass in [a, b]
  double a = 0.0;
  double b = 0.0;
};

// Returns the x below which the share lies, refined together until the last is
// near enough.
std::vector<double> CompatPpf(const std::vector<CompatQuantile>& quantiles);

// A kernel on the line of NumericRange, before it is cut to the box.
struct NumericKernel {
  double mu = 0.0;
  double sigma = 0.0;
};

enum class KernelWidth {
  kNeighbours,  // the gap to the farther neighbour
  kShared,      // 0.2 n^(-1/(d+4)) of the box: v4 with multivariate
};

// The prior comes last. `together` is d above.
std::vector<NumericKernel> FitCompatKernels(const NumericRange& range,
                                            const std::vector<double>& observed,
                                            KernelWidth width,
                                            std::size_t together);

// The oldest come first: the newest 25 weigh 1, older ones less. They are not
// normalised, and lack the prior.
std::vector<double> CompatWeights(std::size_t observations);

// The kernels of a number with a step. Under each kernel a value has the mass
// of its cell.
class CompatCells {
 public:
  // REQUIRES: range.step > 0.
  CompatCells(const NumericRange& range,
              const std::vector<NumericKernel>& kernels);

  // Adds ln p_k(value) to sums[k].
  void AddLogDensity(double value, std::span<double> sums);

 private:
  const std::vector<double>& LogMasses(double value);

  NumericRange range_;
  std::vector<NumericKernel> shapes_;
  std::vector<double> log_box_;                       // by shape
  std::vector<std::uint32_t> shape_of_;               // by kernel
  std::map<double, std::vector<double>> log_masses_;  // by value, then shape
};

// The kernels of a number without a step. Under each kernel a value has the
// density at its place.
class CompatLine {
 public:
  CompatLine(const NumericRange& range,
             const std::vector<NumericKernel>& kernels);

  void AddLogDensity(double value, std::span<double> sums) const;

 private:
  struct Kernel {
    NumericKernel shape;
    double log_box = 0.0;
    double log_sigma = 0.0;
  };

  NumericRange range_;
  std::vector<Kernel> kernels_;
};

// The kernels of a parameter without order. A kernel's p(c) is a floor that
// falls with the number of kernels, and 1 more where c was observed (Aitchison
// and Aitken, 1976), with Optuna's rounding.
class CompatChoices {
 public:
  CompatChoices(std::size_t choices, const std::vector<double>& observed);

  // REQUIRES: `u` is in [0, 1).
  double Draw(std::size_t kernel, double u) const;
  void AddLogDensity(double choice, std::span<double> sums) const;

 private:
  std::vector<std::vector<double>> rows_;  // by observed choice; last: prior
  std::vector<std::size_t> row_of_;        // by kernel
};

// A column is a parameter; its rows are trials or candidates: columns[d][i].
using Columns = std::vector<std::vector<double>>;

// The estimator of one block, p(x) above. For each block that it draws,
// CompatTpe makes one of the good trials and one of the others.
class CompatMixture {
 public:
  // `observed` has a column for each domain; the prior's 1 is added to
  // `weights`. It keeps no reference.
  CompatMixture(const std::vector<const Domain*>& domains,
                const Columns& observed, std::vector<double> weights,
                KernelWidth width);

  Columns Draw(std::size_t count, NumpyStream& stream) const;
  std::vector<double> LogDensity(const Columns& candidates);

  // The weights, which sum to 1; the last is that of the prior.
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
