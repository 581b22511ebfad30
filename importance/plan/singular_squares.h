// SPDX-License-Identifier: Apache-2.0
//
// File: singular_squares.h
//
// Rows need not decide every coefficient: undecided sums are refused.
#ifndef FROSTLINE_IMPORTANCE_PLAN_SINGULAR_SQUARES_H_
#define FROSTLINE_IMPORTANCE_PLAN_SINGULAR_SQUARES_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace frostline::importance {

class SingularSquares {
 public:
  // REQUIRES: there is a row and a column; all are of one width; each row has a
  // target.
  SingularSquares(std::vector<std::vector<double>> rows,
                  std::vector<double> targets);

  struct Sum {
    double value = 0.0;
    double error = 0.0;  // standard
  };
  // Sums weighted coefficients; nullopt means undecided.
  std::optional<Sum> Estimate(const std::vector<double>& weights) const;
  double freedom() const { return freedom_; }  // rows beyond coefficients

 private:
  // Returns x with gram x = c.
  std::optional<std::vector<double>> Solve(std::vector<double> c) const;

  std::vector<std::vector<double>> gram_;
  std::vector<double> coefficients_;  // one solution
  double noise_ = 0.0;
  double freedom_ = 0.0;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_SINGULAR_SQUARES_H_
