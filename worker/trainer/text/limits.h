// SPDX-License-Identifier: Apache-2.0
//
// File: limits.h
//
// What a tokenizer file may ask of us: far above every published one and far
// below what hurts.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_LIMITS_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_LIMITS_H_

#include <cstddef>

namespace frostline::trainer {

inline constexpr std::size_t kMaxTokenizerBytes = std::size_t{32} << 20;
// Of a vocabulary, of a list of merges, of the added tokens.
inline constexpr std::size_t kMaxEntries = 1'000'000;
// Bounds what a position of a text costs in a search of the vocabulary.
inline constexpr std::size_t kMaxTokenBytes = 1024;
// Of one text. Repaired and normalized it may be 33 times as long, and offsets
// have 32 bits.
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_LIMITS_H_
