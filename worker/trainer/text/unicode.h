// SPDX-License-Identifier: Apache-2.0
//
// File: unicode.h
//
// Answers what the Rust tokenizers do about a code point: their tables are of
// several Unicode versions, ours agree with each. Any thread may ask; the first
// call builds a table of about 100 KiB.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_UNICODE_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_UNICODE_H_

#include <cstddef>
#include <cstdint>

namespace frostline::trainer {

// scripts/unicode_tables.py writes these, sorted by first code points, for
// unicode.cc alone.

// first..last have these bits of CharFlag.
struct FlagRun {
  char32_t first;
  char32_t last;
  std::uint16_t flags;
};

// first, first + stride .. last become themselves plus distance. Runs of stride
// 2 interleave, so `first` alone is sorted.
struct LowerRun {
  char32_t first;
  char32_t last;
  std::uint32_t stride;
  std::int32_t distance;
};

struct ClassRun {
  char32_t first;
  char32_t last;
  std::uint8_t combining_class;
};

// It is kDecomposed[begin, begin + count).
struct Decomposition {
  char32_t composed;
  std::uint16_t begin;
  std::uint16_t count;
};

// `first` and `second` are `composed`; sorted by the two.
struct Composition {
  char32_t first;
  char32_t second;
  char32_t composed;
};

extern const FlagRun kFlagRuns[];
extern const std::size_t kFlagRunsCount;
extern const LowerRun kLowerRuns[];
extern const std::size_t kLowerRunsCount;
extern const ClassRun kClassRuns[];
extern const std::size_t kClassRunsCount;
extern const Decomposition kDecompositions[];
extern const std::size_t kDecompositionsCount;
extern const char32_t kDecomposed[];
extern const std::size_t kDecomposedCount;
extern const Composition kCompositions[];
extern const std::size_t kCompositionsCount;

// The order is that of FLAGS in scripts/unicode_tables.py.
enum CharFlag : std::uint16_t {
  kWhiteSpace = 1 << 0,
  kDropped = 1 << 1,      // control characters that BERT's cleaning removes
  kPunctuation = 1 << 2,  // category P*, and every ASCII symbol
  kMark = 1 << 3,         // non-spacing: an accent
  kLetter = 1 << 4,
  kNumber = 1 << 5,
  kJoins = 1 << 6,     // belongs to the grapheme cluster before it
  kPrepends = 1 << 7,  // takes the next code point into its cluster
  kBreaks = 1 << 8,    // stands alone whatever follows
  kCombines = 1 << 9,  // has a combining class above 0
  kDecomposes = 1 << 10,
  kLowers = 1 << 11,
};

// Code point `c` must be valid.
std::uint16_t FlagsOf(char32_t c);

inline bool Has(char32_t c, std::uint16_t any) {
  return (FlagsOf(c) & any) != 0;
}

// Follows the reference, with its gap at U+2B820..U+2B91F.
bool IsCjk(char32_t c);

struct CodePoints {
  char32_t at[4];
  std::size_t count;
};

// Returns the whole canonical decomposition, or the code point itself.
CodePoints Decompose(char32_t c);
// Returns what the two are in composed form, or 0.
char32_t Compose(char32_t first, char32_t second);
CodePoints ToLower(char32_t c);  // one or two code points
std::uint8_t CombiningClass(char32_t c);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_UNICODE_H_
