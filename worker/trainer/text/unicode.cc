// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/unicode.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace frostline::trainer {

#include "worker/trainer/text/unicode_tables.inc"

namespace {

constexpr std::size_t kBlock = 128;
constexpr std::size_t kBlocks = 0x110000 / kBlock;

using Block = std::array<std::uint16_t, kBlock>;

// Two steps: which block, then where in it. Equal blocks are kept once, and
// most of Unicode is a few of them.
class FlagTable {
 public:
  FlagTable() {
    std::map<Block, std::uint16_t> known;
    const FlagRun* run = kFlagRuns;
    const FlagRun* end = kFlagRuns + kFlagRunsCount;
    for (std::size_t i = 0; i < kBlocks; ++i) {
      Block block{};
      for (std::size_t j = 0; j < kBlock; ++j) {
        const auto c = static_cast<char32_t>(i * kBlock + j);
        while (run != end && run->last < c) ++run;
        if (run != end && run->first <= c) block[j] = run->flags;
      }
      const auto number = static_cast<std::uint16_t>(blocks_.size());
      const auto [place, added] = known.emplace(block, number);
      if (added) blocks_.push_back(block);
      which_[i] = place->second;
    }
  }

  std::uint16_t operator[](char32_t c) const {
    return blocks_[which_[c / kBlock]][c % kBlock];
  }

 private:
  std::array<std::uint16_t, kBlocks> which_{};
  std::vector<Block> blocks_;
};

const FlagTable& Flags() {
  static const FlagTable table;
  return table;
}

// Hangul syllables are composed by arithmetic (Unicode, section 3.12).
constexpr char32_t kHangul = 0xAC00;
constexpr char32_t kHangulLast = 0xD7A3;
constexpr char32_t kTrailing = 28;
constexpr char32_t kVowels = 21;

CodePoints DecomposeHangul(char32_t c) {
  const char32_t index = c - kHangul;
  const char32_t lead = 0x1100 + index / (kVowels * kTrailing);
  const char32_t vowel = 0x1161 + index / kTrailing % kVowels;
  const char32_t trail = index % kTrailing;
  if (trail == 0) return {{lead, vowel}, 2};
  return {{lead, vowel, 0x11A7 + trail}, 3};
}

// A lead and a vowel, or these two and a trail.
char32_t ComposeHangul(char32_t first, char32_t second) {
  constexpr char32_t kLeads = 19;
  if (first >= 0x1100 && first < 0x1100 + kLeads && second >= 0x1161 &&
      second < 0x1161 + kVowels) {
    return kHangul +
           ((first - 0x1100) * kVowels + (second - 0x1161)) * kTrailing;
  }
  const bool open = first >= kHangul && first <= kHangulLast &&
                    (first - kHangul) % kTrailing == 0;
  if (open && second > 0x11A7 && second < 0x11A7 + kTrailing) {
    return first + (second - 0x11A7);
  }
  return 0;
}

}  // namespace

std::uint16_t FlagsOf(char32_t c) { return Flags()[c]; }

bool IsCjk(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

CodePoints Decompose(char32_t c) {
  if (!Has(c, kDecomposes)) return {{c}, 1};
  if (c >= kHangul && c <= kHangulLast) return DecomposeHangul(c);
  const Decomposition* row = std::lower_bound(
      kDecompositions, kDecompositions + kDecompositionsCount, c,
      [](const Decomposition& d, char32_t x) { return d.composed < x; });
  CodePoints parts{{}, row->count};
  std::copy_n(kDecomposed + row->begin, row->count, parts.at);
  return parts;
}

char32_t Compose(char32_t first, char32_t second) {
  if (const char32_t hangul = ComposeHangul(first, second)) return hangul;
  const Composition* row = std::lower_bound(
      kCompositions, kCompositions + kCompositionsCount,
      std::pair(first, second),
      [](const Composition& each, const std::pair<char32_t, char32_t>& wanted) {
        return std::pair(each.first, each.second) < wanted;
      });
  const bool found = row != kCompositions + kCompositionsCount &&
                     row->first == first && row->second == second;
  return found ? row->composed : 0;
}

CodePoints ToLower(char32_t c) {
  if (!Has(c, kLowers)) return {{c}, 1};
  if (c == 0x130) return {{0x69, 0x307}, 2};  // I with a dot: the one of two
  const LowerRun* after = std::upper_bound(
      kLowerRuns, kLowerRuns + kLowerRunsCount, c,
      [](char32_t x, const LowerRun& run) { return x < run.first; });
  while (after != kLowerRuns) {
    --after;
    if (c > after->last || (c - after->first) % after->stride != 0) continue;
    const auto lower = static_cast<std::int32_t>(c) + after->distance;
    return {{static_cast<char32_t>(lower)}, 1};
  }
  return {{c}, 1};
}

std::uint8_t CombiningClass(char32_t c) {
  if (!Has(c, kCombines)) return 0;
  const ClassRun* after = std::upper_bound(
      kClassRuns, kClassRuns + kClassRunsCount, c,
      [](char32_t x, const ClassRun& run) { return x < run.first; });
  return after == kClassRuns ? 0 : std::prev(after)->combining_class;
}

}  // namespace frostline::trainer
