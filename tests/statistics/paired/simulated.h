// SPDX-License-Identifier: Apache-2.0
//
// File: simulated.h
//
// Contenders for tests.
#ifndef FROSTLINE_TESTS_STATISTICS_PAIRED_SIMULATED_H_
#define FROSTLINE_TESTS_STATISTICS_PAIRED_SIMULATED_H_

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "statistics/compare.h"

namespace frostline::statistics {

inline Run RunOf(std::uint64_t seed, const std::string& metric,
                 const Outcomes& outcomes) {
  Run run{seed, 0.0, MakeRunScore(metric, outcomes)};
  run.value = run.score->At({});
  return run;
}

// A contender on 100 examples. Its n-th pair says which are right with seed n:
// from the first number on, before the second.
inline Contender Bits(const std::string& name,
                      const std::vector<std::pair<int, int>>& right) {
  Contender contender{name, {}};
  for (const auto& [from, to] : right) {
    Outcomes outcomes;
    outcomes.right_or_wrong = true;
    for (int i = 0; i < 100; ++i) {
      outcomes.marks.push_back(i >= from && i < to ? 1.0F : 0.0F);
    }
    contender.runs.push_back(
        RunOf(contender.runs.size() + 1, "accuracy", outcomes));
  }
  return contender;
}

// Runs with values alone, by seed from 1 on.
inline Contender Seeded(const std::string& name,
                        const std::vector<double>& values) {
  Contender contender{name, {}};
  for (const double value : values) {
    contender.runs.push_back({contender.runs.size() + 1, value, nullptr});
  }
  return contender;
}

// Two classes; a share of the 200 guesses is right, which ones goes by `dice`.
inline Contender Guesser(const std::string& name, const std::string& metric,
                         std::uint64_t dice, double right) {
  Rng rng(dice);
  Outcomes outcomes;
  outcomes.classes = {"no", "yes"};
  for (int i = 0; i < 200; ++i) {
    const std::int32_t truth = i % 2;
    outcomes.true_class.push_back(truth);
    outcomes.predicted_class.push_back(rng.Uniform() < right ? truth
                                                             : 1 - truth);
  }
  return {name, {RunOf(1, metric, outcomes)}};
}

inline Contender Recorded(const std::string& name, const nlohmann::json& row,
                          const char* run, const std::string& metric) {
  Outcomes outcomes;
  if (row["kind"] == "classes") {
    outcomes.true_class = row["truth"].get<std::vector<std::int32_t>>();
    outcomes.predicted_class = row[run].get<std::vector<std::int32_t>>();
    outcomes.classes = {"no", "yes"};
  } else {
    outcomes.true_value = row["truth"].get<std::vector<double>>();
    outcomes.predicted_value = row[run].get<std::vector<double>>();
  }
  return {name, {RunOf(1, metric, outcomes)}};
}

}  // namespace frostline::statistics

#endif  // FROSTLINE_TESTS_STATISTICS_PAIRED_SIMULATED_H_
