// SPDX-License-Identifier: Apache-2.0
//
// File: truths.h
//
// Synthetic truths: a target that is a sum of tables over the levels of one,
// two or three modules. Every table is centred over each of its axes, so the
// share of a term in the target's variance is the variance of its table.
// Samplers maximise them; importance evaluators are asked for the shares.
#ifndef FROSTLINE_TESTS_SEARCH_TRUTHS_H_
#define FROSTLINE_TESTS_SEARCH_TRUTHS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "study/space.h"

namespace frostline::test {

struct TruthTerm {
  std::vector<std::size_t> axes;  // modules, rising
  double share = 0.0;
  std::vector<double> table;  // row-major, the last axis fastest
};

struct Truth {
  std::string name;
  int modules = 0;
  int levels = 0;
  std::vector<TruthTerm> terms;

  // Returns the target of a point whose coordinates are indices of levels.
  double Target(const Point& point) const;
  Space MakeSpace() const;
};

// From a file {"cases": {NAME: {"modules", "levels", "terms": [{"axes",
// "share", "table"}]}}}, sorted by name. Throws std::runtime_error naming the
// file and the case when a table does not fit its axes.
std::vector<Truth> ReadTruths(const std::string& path);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_SEARCH_TRUTHS_H_
