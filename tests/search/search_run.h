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
#include <vector>

#include "sampler/factory.h"
#include "tests/search/layerwise.h"

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

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_SEARCH_SEARCH_RUN_H_
