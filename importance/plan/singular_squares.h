// SPDX-License-Identifier: Apache-2.0
//
// File: singular_squares.h
//
// Least squares where the rows may not decide every coefficient: sums of
// coefficients that they do decide are estimated, others are refused.
#ifndef FROSTLINE_IMPORTANCE_PLAN_SINGULAR_SQUARES_H_
#define FROSTLINE_IMPORTANCE_PLAN_SINGULAR_SQUARES_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace frostline::importance {

class SingularSquares {
 public:
  // Rows of one width, at least one row and one column; one target for each.
  SingularSquares(std::vector<std::vector<double>> rows,
                  std::vector<double> targets);

  struct Sum {
    double value = 0.0;
    double error = 0.0;  // standard error
  };
  // Of the coefficients with these weights; nullopt: not decided.
  std::optional<Sum> Estimate(const std::vector<double>& weights) const;
  // Rows beyond what the coefficients take.
  double freedom() const { return freedom_; }

 private:
  // x with (products of the columns) x = c.
  std::optional<std::vector<double>> Solve(std::vector<double> c) const;

  std::vector<std::vector<double>> gram_;
  std::vector<double> coefficients_;  // of those that fit, some
  double noise_ = 0.0;
  double freedom_ = 0.0;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_SINGULAR_SQUARES_H_
