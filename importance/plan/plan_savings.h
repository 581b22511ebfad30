// SPDX-License-Identifier: Apache-2.0
//
// File: plan_savings.h
//
// Estimates by least squares what a plan saves, from what trials took and which
// modules they froze. Trained parameters are sums over modules, so they are
// exact; seconds are as sure as the trials make them.
#ifndef FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_
#define FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "study/history.h"
#include "study/space.h"

namespace frostline::importance {

// Least squares whose rows need not decide every coefficient. A sum that they
// do not decide is refused.
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

// What a plan saves against training all that can be trained. NaN if no trial
// says what it took, froze or trained a module of the plan, or seconds are too
// noisy.
struct PlanSavings {
  double trained_parameters = 0.0;
  double seconds_share = 0.0;
};

// REQUIRES: all lie in the space.
PlanSavings EstimateSavings(const Space& space,
                            const std::vector<const Observation*>& trials,
                            const Point& plan);

struct PlanCosts {  // of one trial; NaN likewise
  double trained_parameters = 0.0;
  double seconds = 0.0;
};

PlanCosts EstimateCosts(const Space& space,
                        const std::vector<const Observation*>& trials,
                        const Point& point);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_PLAN_SAVINGS_H_
