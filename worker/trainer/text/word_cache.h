// SPDX-License-Identifier: Apache-2.0
//
// File: word_cache.h
//
// Remembers the tokens of short words: a text uses few words often. It is
// bounded in memory and time, whatever the words are; when full, it forgets
// everything. One thread uses it.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_WORD_CACHE_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_WORD_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worker/trainer/text/subword_model.h"

namespace frostline::trainer {

class WordCache {
 public:
  static constexpr std::size_t kMaxWordBytes = 48;

  WordCache() : slots_(kSlots) {}

  // Appends the pieces of a known word, or is false.
  bool Recall(std::string_view word, std::vector<Piece>& pieces) const;
  // Words above kMaxWordBytes are not kept.
  void Remember(std::string_view word, std::span<const Piece> pieces);

 private:
  static constexpr std::size_t kSlots = 1 << 17;
  static constexpr std::size_t kMaxWords = kSlots / 2;
  static constexpr std::size_t kProbes = 8;

  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t word = 0;    // begins here in words_
    std::uint32_t pieces = 0;  // and here in pieces_
    std::uint16_t length = 0;  // of the word; 0: the slot is free
    std::uint16_t count = 0;   // of the pieces
  };

  static std::uint64_t Hash(std::string_view word);
  void Forget();

  std::vector<Slot> slots_;
  std::string words_;
  std::vector<Piece> pieces_;
  std::size_t known_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_WORD_CACHE_H_
