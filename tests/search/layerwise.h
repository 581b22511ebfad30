// SPDX-License-Identifier: Apache-2.0
//
// File: layerwise.h
//
// Objectives over learning-rate levels whose values are known exactly: what
// samplers are measured on. All are pure functions of a point, minimised.
//
//   i    7 modules, additive with six pairs; minimum -13/64
//   ii   13 modules of which three matter, and noise fixed by the point
//   iii  13 modules, a bowl with a cliff one level above the best; minimum 0
//
// Every constant is dyadic and sums are of integers, so a value is the same
// double in every language.
#ifndef FROSTLINE_TESTS_SEARCH_LAYERWISE_H_
#define FROSTLINE_TESTS_SEARCH_LAYERWISE_H_

#include <functional>
#include <string>
#include <vector>

#include "study/space.h"

namespace frostline::test {

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

#endif  // FROSTLINE_TESTS_SEARCH_LAYERWISE_H_
