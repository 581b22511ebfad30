// SPDX-License-Identifier: Apache-2.0
//
// File: unicode_tables.h
//
// scripts/unicode_tables.py writes these, sorted by first code points, for
// unicode.cc alone.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_UNICODE_TABLES_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_UNICODE_TABLES_H_

#include <cstddef>
#include <cstdint>

namespace frostline::trainer {

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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_UNICODE_TABLES_H_
