// SPDX-License-Identifier: Apache-2.0
//
// File: surrogate.h
//
// A Gaussian process over the cells of a study, with an ANOVA kernel
// (scales.h), integrated scales (scales.h) and noise with heavy tails.
// Cells that were never visited stay uncertain.
//
//   const Surrogate surrogate(std::move(rows), {.seed = 7});
//   Belief b = surrogate.At(cells);           // mean, variance; noise apart
//   EffectDraws effects = surrogate.DrawEffects(200, 1);
//
// It is immutable; any thread may use it. It is a pure function of rows and
// options and costs O(draws · rows³). Above most_rows it learns from the rows
// that tell most (scales.h).
#ifndef FROSTLINE_SURROGATE_SURROGATE_H_
#define FROSTLINE_SURROGATE_SURROGATE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "surrogate/rows.h"

namespace frostline::surrogate {

// Calls a body for each number below a count. In what order it does so, and on
// which threads, changes no answer.
using ForEach = std::function<void(
    std::size_t count, const std::function<void(std::size_t)>& body)>;
void OneByOne(std::size_t count, const std::function<void(std::size_t)>& body);

struct SurrogateOptions {
  std::uint64_t seed = 0;
  int scale_draws = 0;  // 0: as many as bounded time allows
  std::size_t most_rows = 200;
  Usual usual = {};
  // Once a stop is requested the scales are whatever was found by then: whoever
  // gives a token looks at it before they believe anything.
  std::stop_token stop = {};
  ForEach for_each = OneByOne;  // while it is made
};

struct Belief {
  double mean = 0.0;
  double variance = 0.0;
};

// Variances are in squares of the values' unit (joint_scale: in their
// variance), curves and `both` in the unit.
struct EffectDraws {
  using Pair = std::pair<std::size_t, std::size_t>;
  std::vector<Pair> pairs;                 // of axes
  std::vector<std::vector<double>> main;   // by draw and axis
  std::vector<std::vector<double>> joint;  // by draw, as pairs
  std::vector<double> higher;              // three axes and more
  std::vector<double> higher_part;         // by axis: its share of higher
  std::vector<double> joint_scale;         // by axis: of its interactions
  std::vector<std::vector<std::vector<double>>> curves;  // [draw][axis][cell]
  // Both trained add this to what each adds alone, by draw, as pairs: where
  // more is better, above 0 both are needed, below either suffices; 0 without a
  // frozen cell.
  std::vector<std::vector<double>> both;
};

// The process itself, fitted when it is made.
class Surrogate {
 public:
  // REQUIRES: there is a row; there are at most kMaxCells cells.
  Surrogate(Rows rows, const SurrogateOptions& options);
  ~Surrogate();
  Surrogate(Surrogate&&) noexcept;
  Surrogate& operator=(Surrogate&&) noexcept;

  const Rows& rows() const;
  std::size_t rows_used() const;
  double noise_variance() const;  // of one run about its mean
  // Returns how far off each row is: 1 is usual, a diverged run is more.
  const std::vector<double>& spread_of_rows() const;

  Belief At(const Cells& cells) const;
  std::vector<Belief> At(const std::vector<Cells>& points) const;
  // Returns joint draws of the values at points, draws x points.
  std::vector<std::vector<double>> Draw(const std::vector<Cells>& points,
                                        int draws, std::uint64_t seed) const;
  // If it `saturates`, the values are numbers of a Saturation (saturation.h),
  // and effects are on the scale they came from.
  // After a stop there is at least one draw.
  EffectDraws DrawEffects(int draws, std::uint64_t seed, bool saturates = false,
                          const std::stop_token& stop = {},
                          const ForEach& for_each = OneByOne) const;

  // Predicts each row without itself, with noise; after a stop not all.
  std::vector<Belief> LeftOut(const std::stop_token& stop = {},
                              const ForEach& for_each = OneByOne) const;

  struct Parts;  // for this room (scales.h)
  const Parts& parts() const { return *parts_; }

 private:
  std::vector<Belief> Believe(const std::vector<Cells>& points,
                              std::size_t most,
                              const std::stop_token& stop = {},
                              const ForEach& for_each = OneByOne) const;

  std::unique_ptr<const Parts> parts_;
};

// Questions to a surrogate: how points vary together, what the means along one
// axis are, and where one more run would tell most.

// Returns covariances of the values at points, points x points, in squares of
// their unit: the mean over the `draws` likeliest sets of scales.
std::vector<double> CovarianceAt(const Surrogate& surrogate,
                                 const std::vector<Cells>& points,
                                 std::size_t draws);

// The means along one axis, for searches. Sums over the other axes are made
// once, so all cells of an axis cost as much as one point, O(rows · axes).
class AxisWalk {
 public:
  // Keeps only the `draws` likeliest sets of scales of the surrogate.
  AxisWalk(const Surrogate& surrogate, std::size_t draws);

  // Returns the mean at each cell of `axis`, the others as in `cells`.
  std::vector<double> Along(std::size_t axis, const Cells& cells) const;
  double At(const Cells& cells) const;

 private:
  struct Draw {
    double base = 0.0;  // whatever the point
    PointKernel kernel;
    std::vector<double> weights;  // by row
  };

  std::vector<Cells> rows_;
  std::vector<Draw> draws_;
};

// Returns by how much one more run would reduce the variance of all main
// effects (Cohn, Ghahramani and Jordan, 1996), each weighed by the shares of
// its cells. Unknown interactions hide main effects, so runs that tell them
// apart win.
//
// Scales are the usual ones, without values. Costs O(taken · (taken + cells) ·
// (taken + candidates)).
//
// The unit is the variance of the values. REQUIRES: there is a taken row; there
// are at most kMaxCells cells.
std::vector<double> Telling(const std::vector<Axis>& axes,
                            const std::vector<Cells>& taken,
                            const std::vector<Cells>& candidates);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SURROGATE_H_
