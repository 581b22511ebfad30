// SPDX-License-Identifier: Apache-2.0
//
// File: shape.h
//
// What is measured: one BERT with two classes, one batch, and how much of it is
// frozen. Knows no LibTorch, so that both sides can read it.
#ifndef FROSTLINE_TESTS_BENCH_STEP_SHAPE_H_
#define FROSTLINE_TESTS_BENCH_STEP_SHAPE_H_

#include <cstdint>

namespace frostline::bench {

struct Shape {
  std::int64_t layers = 6;
  std::int64_t hidden = 384;
  std::int64_t heads = 12;
  std::int64_t texts = 16;
  std::int64_t tokens = 64;
  std::int64_t vocabulary = 30522;
  std::int64_t positions = 512;
  double dropout = 0.1;

  std::int64_t wide() const { return 4 * hidden; }
};

enum class Frozen : std::uint8_t {
  kNothing,
  kLr0,     // embeddings and k layers at rate 0
  kHard,    // without a gradient
  kCached,  // and its boundary from the store, without dropout
};

struct Freeze {
  Frozen how = Frozen::kNothing;
  std::int64_t k = 0;
};

inline constexpr double kRate = 2e-5;
inline constexpr double kDecay = 0.01;
inline constexpr std::uint64_t kSeed = 11;

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_SHAPE_H_
