// SPDX-License-Identifier: Apache-2.0
//
// File: search_run.h
//
// One search: a sampler on an objective, with nothing but the sampler between
// them. Workers are simulated: as many trials run as there are workers, and
// which of them ends next is drawn. The same setup gives the same trace.
#ifndef FROSTLINE_TESTS_SEARCH_SEARCH_RUN_H_
#define FROSTLINE_TESTS_SEARCH_SEARCH_RUN_H_

#include <cstdint>
#include <map>
#include <vector>

#include "sampler/factory.h"
#include "tests/search/truths.h"

namespace frostline::test {

struct SearchSetup {
  sampler::SamplerSpec sampler;
  int trials = 200;
  std::uint64_t seed = 0;
  int workers = 1;
  bool ramps = false;     // as the coordinator does (server/dispatch/supply.h)
  double noise_sd = 0.0;  // added to what the sampler is told
  double failure_share = 0.0;  // of trials that end FAILED, whatever the point
  bool tells_constraint = true;  // false: the sampler does not know of it
};

// The true loss of the trial that looks best of those that keep the constraint,
// after each trial that ended; infinite until one has. Ends the program when a
// proposal fails: a benchmark of a broken sampler says nothing. A sampler that
// has covered the space keeps its best.
std::vector<double> RunSearch(const SearchObjective& objective,
                              const SearchSetup& setup);

// The same search from many seeds, on all cores.

// Best loss after 50, 100 and 200 trials -> one value for each seed.
using Sweep = std::map<int, std::vector<double>>;

// Seeds 0 … seeds-1; the setup's own seed and number of trials are not used.
Sweep RunSweep(const SearchObjective& objective, const SearchSetup& setup,
               int seeds);

// What benchmarks say of samples of runs.

// One-sided Mann–Whitney U test (Mann and Whitney, 1947): how likely values as
// much greater than `others` as these are, were both drawn alike. Normal
// approximation with correction for ties and continuity; 1 when all are equal.
double ProbabilityNotGreater(const std::vector<double>& values,
                             const std::vector<double>& others);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_SEARCH_SEARCH_RUN_H_
