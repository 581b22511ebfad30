// SPDX-License-Identifier: Apache-2.0
//
// File: limits.h
//
// These bounds lie far above every published tokenizer and far below what
// hurts.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_LIMITS_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_LIMITS_H_

#include <cstddef>

namespace frostline::trainer {

inline constexpr std::size_t kMaxTokenizerBytes = std::size_t{32} << 20;
// It bounds a vocabulary, a list of merges, and the added tokens.
inline constexpr std::size_t kMaxEntries = 1'000'000;
// It bounds what a position of a text costs in a search of the vocabulary.
inline constexpr std::size_t kMaxTokenBytes = 1024;
// It bounds one text. Repaired and normalized it may be 33 times as long, and
// offsets have 32 bits.
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_LIMITS_H_
