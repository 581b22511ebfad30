// SPDX-License-Identifier: Apache-2.0
//
// File: finding.h
#ifndef FROSTLINE_STATISTICS_PAIRED_FINDING_H_
#define FROSTLINE_STATISTICS_PAIRED_FINDING_H_

#include <string>

#include "statistics/compare.h"

namespace frostline::statistics {

struct Told {
  std::string metric;
  std::string first;
  std::string second;
  std::string examples;    // "544 examples", "80 sentences"
  bool in_points = false;  // of a metric that ends at 1: "2.6 points"
  bool more_is_better = true;
  double margin = 0.0;
  bool in_family = false;  // of more than one test
};

// Says what was found in one sentence, and of what cannot be told from noise
// what could have been.
std::string FindingSentence(const Told& told, const PairJudged& pair);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_PAIRED_FINDING_H_
