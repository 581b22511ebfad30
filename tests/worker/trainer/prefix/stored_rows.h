// SPDX-License-Identifier: Apache-2.0
//
// File: stored_rows.h
//
// Rows whose numbers follow from their key, so that a reader knows what is
// right.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_PREFIX_STORED_ROWS_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_PREFIX_STORED_ROWS_H_

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "worker/trainer/data/token_store.h"

namespace frostline::trainer {

inline RowKey KeyOf(std::uint64_t i) { return {i * 77, i}; }

// Returns a row of 1 + i mod 7 numbers.
inline std::vector<float> RowOf(std::uint64_t i) {
  std::vector<float> row(1 + i % 7);
  for (std::size_t j = 0; j < row.size(); ++j) {
    row[j] = static_cast<float>(i * 10 + j) / 3.0F;
  }
  return row;
}

inline std::string GroupNamed(char digit) { return std::string(64, digit); }

inline std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_PREFIX_STORED_ROWS_H_
