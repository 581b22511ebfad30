// SPDX-License-Identifier: Apache-2.0
//
// File: limits.h
//
// These bounds lie far above every published set and far below what hurts.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_LIMITS_H_
#define FROSTLINE_WORKER_TRAINER_DATA_LIMITS_H_

#include <cstddef>

namespace frostline::trainer {

// It bounds a line, without its end, and a row whose quoted fields span lines.
inline constexpr std::size_t kMaxDataLineBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxRows = 50'000'000;  // of a split
inline constexpr std::size_t kMaxWords = 1'000'000'000;
inline constexpr std::size_t kMaxColumns = 1'000;
inline constexpr std::size_t kMaxLabels = 10'000;
inline constexpr std::size_t kMaxLabelBytes = 256;
inline constexpr std::size_t kMaxRegistryBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxIdBytes = 64;
// What a trial says of its evaluations: what the contract takes.
inline constexpr std::size_t kMaxEvaluationsBytes = std::size_t{640} << 10;

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_LIMITS_H_
