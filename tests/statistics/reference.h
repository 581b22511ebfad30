// SPDX-License-Identifier: Apache-2.0
//
// File: reference.h
//
// What scipy, numpy and scikit-learn say of small examples; made by
// scripts/statistics_table.py.
#ifndef FROSTLINE_TESTS_STATISTICS_REFERENCE_H_
#define FROSTLINE_TESTS_STATISTICS_REFERENCE_H_

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace frostline::statistics {

inline nlohmann::json Reference(const std::string& table) {
  const char* root = std::getenv("FROSTLINE_SOURCE_DIR");
  std::ifstream file(std::string(root == nullptr ? "." : root) +
                     "/tests/statistics/data/reference.json");
  return nlohmann::json::parse(file).at(table);
}

}  // namespace frostline::statistics

#endif  // FROSTLINE_TESTS_STATISTICS_REFERENCE_H_
