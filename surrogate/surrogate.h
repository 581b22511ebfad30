// SPDX-License-Identifier: Apache-2.0
//
// File: surrogate.h
//
// What is believed of a study: a Gaussian process over the cells of its
// parameters whose kernel is an ANOVA decomposition (scales.h), with all scales
// integrated (scale_draws.h) and noise of heavy tails. What the trials never
// visited stays uncertain by itself; every effect has its posterior in closed
// form. Sampler, importance and plan believe the same.
//
//   const Surrogate surrogate(std::move(rows), {.seed = 7});
//   Belief b = surrogate.At(cells);           // mean, variance; noise apart
//   EffectDraws effects = surrogate.DrawEffects(200, 1);
//
// Immutable; any thread may ask. A pure function of rows and options. Costs
// O(draws · rows³); above most_rows rows a subset is learnt from, those that
// tell most first (standard_rows.h), and `rows_used` says so.
#ifndef FROSTLINE_SURROGATE_SURROGATE_H_
#define FROSTLINE_SURROGATE_SURROGATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "surrogate/rows.h"
#include "surrogate/usual.h"

namespace frostline::surrogate {

struct SurrogateOptions {
  std::uint64_t seed = 0;
  int scale_draws = 0;  // 0: as many as the rows allow in a bounded time
  std::size_t most_rows = 200;
  Usual usual = {};
};

struct Belief {
  double mean = 0.0;
  double variance = 0.0;
};

// Draws of all effects from their posterior, in squares of the values' unit.
struct EffectDraws {
  using Pair = std::pair<std::size_t, std::size_t>;
  std::vector<Pair> pairs;                 // of axes
  std::vector<std::vector<double>> main;   // variances, by draw and axis
  std::vector<std::vector<double>> joint;  // by draw, as pairs
  std::vector<double> higher;              // of three and more axes, by draw
  std::vector<double> higher_part;         // by axis: its part of higher
  std::vector<double> joint_scale;         // by axis: of its interactions
  // Main effects at the cells: by draw, axis, cell.
  std::vector<std::vector<std::vector<double>>> curves;
  // What both trained add to what each adds alone, the others at random: by
  // draw, as pairs. Above 0 they need each other, below either suffices, where
  // more is better. 0 for axes without a frozen cell.
  std::vector<std::vector<double>> both;
};

class Surrogate {
 public:
  // REQUIRES: a row or more, at most kMaxCells cells. Where values do not
  // differ it believes that nothing does.
  Surrogate(Rows rows, const SurrogateOptions& options);
  ~Surrogate();
  Surrogate(Surrogate&&) noexcept;
  Surrogate& operator=(Surrogate&&) noexcept;

  const Rows& rows() const;
  std::size_t rows_used() const;
  // Of one run about its mean over seeds.
  double noise_variance() const;
  // Of row i, by how far it is off: 1 is usual, more is a run that diverged.
  const std::vector<double>& spread_of_rows() const;

  Belief At(const Cells& cells) const;
  std::vector<Belief> At(const std::vector<Cells>& points) const;
  // The function at points, drawn together: draws x points. `noise` draws one
  // run at each instead.
  std::vector<std::vector<double>> Draw(const std::vector<Cells>& points,
                                        int draws, std::uint64_t seed) const;
  // `saturates`: the values are numbers of a Saturation (saturation.h), and
  // effects are wanted on the scale from which they came.
  EffectDraws DrawEffects(int draws, std::uint64_t seed,
                          bool saturates = false) const;

  // What would have been predicted of each row, had it not been seen: its
  // value, noise and all.
  std::vector<Belief> LeftOut() const;

  // For this room's own sources (surrogate_parts.h).
  struct Parts;
  const Parts& parts() const { return *parts_; }

 private:
  std::vector<Belief> Believe(const std::vector<Cells>& points,
                              std::size_t most) const;

  std::unique_ptr<const Parts> parts_;
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_SURROGATE_H_
