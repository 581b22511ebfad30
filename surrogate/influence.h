// SPDX-License-Identifier: Apache-2.0
//
// File: influence.h
//
// What a surrogate would say had some of its rows not been seen. With its
// scales kept, the loss of the rows S changes the weights of all others to
//
//   α - Q_S (Q_SS)⁻¹ α_S,   α = A⁻¹ y,   Q = A⁻¹
//
// (for one row: Rasmussen and Williams, 2006, eq. 5.12), so every mean is known
// at once, without a fit. What a study says should not hang on two runs:
//
//   const Influence influence(surrogate, {frozen, trained});
//   const auto rows = influence.FindBreaking([&](const Loss& lost) {
//     const std::vector<double> means = influence.MeansWithout(lost);
//     return means[1] - means[0];   // below 0: training would not pay
//   });
#ifndef FROSTLINE_SURROGATE_INFLUENCE_H_
#define FROSTLINE_SURROGATE_INFLUENCE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "surrogate/rows.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

// Places among the rows that were learnt from.
using Loss = std::vector<std::size_t>;

// Means and main effects as they would be without some rows, by the likeliest
// scales. It is immutable, copies what it needs, and costs O(rows³) to make.
class Influence {
 public:
  explicit Influence(const Surrogate& surrogate,
                     const std::vector<Cells>& points = {});
  ~Influence();
  Influence(Influence&&) noexcept;
  Influence& operator=(Influence&&) noexcept;

  // By point, in the values' unit.
  std::vector<double> MeansWithout(const Loss& lost) const;
  // Variances of main effects, by axis, in squares of the unit.
  std::vector<double> MainVariancesWithout(const Loss& lost) const;

  // Returns the rows of the loss with the lowest margin if that is below 0: of
  // one row, else of all repeats of a point (if they are few), else of two.
  // After a stop it may find none.
  std::optional<std::vector<std::size_t>> FindBreaking(
      const std::function<double(const Loss&)>& margin,
      const std::stop_token& stop = {}) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_INFLUENCE_H_
