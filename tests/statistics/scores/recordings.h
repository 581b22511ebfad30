// SPDX-License-Identifier: Apache-2.0
//
// File: recordings.h
//
// What scikit-learn and scipy gave for random arrays: data/.
#ifndef FROSTLINE_TESTS_STATISTICS_SCORES_RECORDINGS_H_
#define FROSTLINE_TESTS_STATISTICS_SCORES_RECORDINGS_H_

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace frostline::statistics {

inline nlohmann::json ReadRecordings(const std::string& name) {
  const char* root = std::getenv("FROSTLINE_SOURCE_DIR");
  std::ifstream file(std::string(root == nullptr ? "." : root) +
                     "/tests/statistics/scores/data/" + name);
  return nlohmann::json::parse(file);
}

}  // namespace frostline::statistics

#endif  // FROSTLINE_TESTS_STATISTICS_SCORES_RECORDINGS_H_
