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
#include <functional>
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

// Objectives over learning-rate levels whose values are known exactly: what
// samplers are measured on. All are pure functions of a point, minimised.
//
//   i    7 modules, additive with six pairs; minimum -13/64
//   ii   13 modules of which three matter, and noise fixed by the point
//   iii  13 modules, a bowl with a cliff one level above the best; minimum 0
//
// Every constant is dyadic and sums are of integers, so a value is the same
// double in every language.
struct SearchObjective {
  std::string name;
  Space space;
  std::function<double(const Point&)> loss;
  // Above 0 it is broken. Empty: there is none.
  std::function<double(const Point&)> constraint = nullptr;
};

// `modules` parameters "p00", "p01", … over seven levels, the first frozen.
Space SevenLevels(int modules);

// i, ii, iii, in this order.
std::vector<SearchObjective> LayerwiseObjectives();

// i, where training all modules at its best rates takes too long: seconds rise
// with each level, and 16 levels in all are allowed; its best has 25.
SearchObjective SecondsAreBounded();

// The same, but frozen is not the level below the smallest rate: it acts as
// some level in the middle, another one in each module ("i.frozen", …).
std::vector<SearchObjective> FrozenIsDifferent();

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_SEARCH_TRUTHS_H_
