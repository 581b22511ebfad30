// SPDX-License-Identifier: Apache-2.0
//
// File: row_order.h
//
// Each row draws a number that depends on (seed, stream, row) alone, and rows
// stand in the order of their numbers: the same on every machine, without
// state, and the rest keep it when some rows go.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_ROW_ORDER_H_
#define FROSTLINE_WORKER_TRAINER_DATA_ROW_ORDER_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace frostline::trainer {

// These say what draws are for. Epochs add their number to the last two.
inline constexpr std::uint64_t kHoldOutStream = 1;
inline constexpr std::uint64_t kSubsetStream = 2;
inline constexpr std::uint64_t kEpochStream = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kBatchStream = std::uint64_t{1} << 33;

// This finalises SplitMix64 (Steele, Lea and Flood, 2014).
inline std::uint64_t MixBits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

inline std::uint64_t DrawOf(std::uint64_t seed, std::uint64_t stream,
                            std::uint64_t row) {
  return MixBits(MixBits(MixBits(seed) ^ stream) ^ row);
}

// The order of `rows` does not matter.
inline std::vector<std::uint32_t> ShuffledRows(
    std::span<const std::uint32_t> rows, std::uint64_t seed,
    std::uint64_t stream) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> drawn;
  drawn.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    drawn.emplace_back(DrawOf(seed, stream, row), row);
  }
  std::sort(drawn.begin(), drawn.end());
  std::vector<std::uint32_t> order;
  order.reserve(rows.size());
  for (const auto& [draw, row] : drawn) order.push_back(row);
  return order;
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_ROW_ORDER_H_
