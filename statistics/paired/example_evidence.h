// SPDX-License-Identifier: Apache-2.0
//
// File: example_evidence.h
//
// What the examples leave open of a difference between runs that are as they
// are: would others like these show it too?
//
//   accuracy, one pair of runs         McNemar's exact test; Tango's intervals
//   accuracy by sentence or over seeds the exact test of signs of what each
//                                      sentence or example comes to over all
//   everything else                    the paired bootstrap
#ifndef FROSTLINE_STATISTICS_PAIRED_EXAMPLE_EVIDENCE_H_
#define FROSTLINE_STATISTICS_PAIRED_EXAMPLE_EVIDENCE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "statistics/paired/contender.h"
#include "statistics/paired/shift_tests.h"

namespace frostline::statistics {

enum class Method { kNone, kMcNemar, kSigns, kBootstrap, kSeeds };

struct ExampleEvidence {
  Method method = Method::kNone;
  // Of a difference of none. NaN: the examples are not known.
  double p = std::numeric_limits<double>::quiet_NaN();
  // Of the difference over other examples.
  double deviation = std::numeric_limits<double>::quiet_NaN();
  double units = 0.0;
  ShiftTests shifts;
  std::optional<PairedCounts> counts;  // McNemar's alone
};

using RunPairs = std::vector<std::pair<const Run*, const Run*>>;
// The scores of a run over all draws (resampling.h).
using DrawsOf = std::function<const std::vector<double>&(const Run&)>;

// Whether all runs have scores of the same units.
bool HaveExamples(const RunPairs& pairs);
// Whether it takes the bootstrap.
bool NeedDraws(const RunPairs& pairs);

// `draws` is asked only where NeedDraws(). REQUIRES: HaveExamples().
ExampleEvidence EvidenceOf(const RunPairs& pairs, const DrawsOf& draws);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_PAIRED_EXAMPLE_EVIDENCE_H_
