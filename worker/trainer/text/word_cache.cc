// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/word_cache.h"

#include <algorithm>
#include <cstring>

namespace frostline::trainer {

// Multiply and fold, eight bytes at a time. Nothing is kept by it but speed.
std::uint64_t WordCache::Hash(std::string_view word) {
  std::uint64_t hash = word.size() * 0x9E3779B97F4A7C15U;
  while (!word.empty()) {
    const std::size_t count = std::min<std::size_t>(word.size(), 8);
    std::uint64_t eight = 0;
    std::memcpy(&eight, word.data(), count);
    hash = (hash ^ eight) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32;
    word.remove_prefix(count);
  }
  return hash;
}

bool WordCache::Recall(std::string_view word,
                       std::vector<Piece>& pieces) const {
  if (word.size() > kMaxWordBytes) return false;
  const std::uint64_t hash = Hash(word);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const Slot& slot = slots_[(hash + i) % kSlots];
    if (slot.length == 0) return false;
    if (slot.hash != hash || slot.length != word.size() ||
        std::memcmp(words_.data() + slot.word, word.data(), word.size()) != 0) {
      continue;
    }
    const auto first = pieces_.begin() + slot.pieces;
    pieces.insert(pieces.end(), first, first + slot.count);
    return true;
  }
  return false;
}

void WordCache::Remember(std::string_view word, std::span<const Piece> pieces) {
  if (word.empty() || word.size() > kMaxWordBytes) return;
  if (known_ == kMaxWords) Forget();
  const std::uint64_t hash = Hash(word);
  for (std::size_t i = 0; i < kProbes; ++i) {
    Slot& slot = slots_[(hash + i) % kSlots];
    if (slot.length != 0) continue;
    slot = {hash, static_cast<std::uint32_t>(words_.size()),
            static_cast<std::uint32_t>(pieces_.size()),
            static_cast<std::uint16_t>(word.size()),
            static_cast<std::uint16_t>(pieces.size())};
    words_.append(word);
    pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
    ++known_;
    return;
  }
}

void WordCache::Forget() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  words_.clear();
  pieces_.clear();
  known_ = 0;
}

}  // namespace frostline::trainer
