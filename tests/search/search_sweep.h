// SPDX-License-Identifier: Apache-2.0
//
// File: search_sweep.h
//
// The same search from many seeds, on all cores.
#ifndef FROSTLINE_TESTS_SEARCH_SEARCH_SWEEP_H_
#define FROSTLINE_TESTS_SEARCH_SEARCH_SWEEP_H_

#include <map>
#include <vector>

#include "tests/search/search_run.h"

namespace frostline::test {

// Best loss after 50, 100 and 200 trials -> one value for each seed.
using Sweep = std::map<int, std::vector<double>>;

// Seeds 0 … seeds-1; the setup's own seed and number of trials are not used.
Sweep RunSweep(const SearchObjective& objective, const SearchSetup& setup,
               int seeds);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_SEARCH_SEARCH_SWEEP_H_
