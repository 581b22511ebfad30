// SPDX-License-Identifier: Apache-2.0
//
// File: singular_squares.h
//
// Least squares whose rows need not decide every coefficient: undecided sums
// are refused.
#ifndef FROSTLINE_IMPORTANCE_PLAN_SINGULAR_SQUARES_H_
#define FROSTLINE_IMPORTANCE_PLAN_SINGULAR_SQUARES_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace frostline::importance {

class SingularSquares {
 public:
  // REQUIRES: a row and a column; one width; a target for each row.
  SingularSquares(std::vector<std::vector<double>> rows,
                  std::vector<double> targets);

  struct Sum {
    double value = 0.0;
    double error = 0.0;  // standard
  };
  // Of weighted coefficients; nullopt: undecided.
  std::optional<Sum> Estimate(const std::vector<double>& weights) const;
  // Rows beyond the coefficients.
  double freedom() const { return freedom_; }

 private:
  // x with gram x = c.
  std::optional<std::vector<double>> Solve(std::vector<double> c) const;

  std::vector<std::vector<double>> gram_;
  std::vector<double> coefficients_;  // one solution
  double noise_ = 0.0;
  double freedom_ = 0.0;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_SINGULAR_SQUARES_H_
