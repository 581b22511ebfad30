// SPDX-License-Identifier: Apache-2.0
//
// File: limits.h
//
// Bounds on weight files and config.json, far above every published encoder and
// far below what does harm.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LIMITS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace frostline::trainer {

inline constexpr std::size_t kMaxHeaderBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxTensors = 20'000;
inline constexpr std::size_t kMaxRank = 8;
inline constexpr std::size_t kMaxShards = 1'000;
inline constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;
// These bound a config.json; published encoders stay below a tenth.
inline constexpr std::int64_t kMaxLayers = 1'000;
inline constexpr std::int64_t kMaxWidth = 65'536;
inline constexpr std::int64_t kMaxVocabulary = 10'000'000;
inline constexpr std::int64_t kMaxPositions = 1'000'000;
inline constexpr std::int64_t kMaxOutputs = 10'000;

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_LIMITS_H_
