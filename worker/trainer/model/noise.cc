// SPDX-License-Identifier: Apache-2.0
//
// Plain loops of a fixed length, which the compiler turns into vector
// instructions. Each has a copy for three kinds of processors, and the loader
// picks one.
#include "worker/trainer/model/noise.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FROSTLINE_VECTORS \
  __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define FROSTLINE_VECTORS
#endif
#define FROSTLINE_INLINE inline __attribute__((always_inline))

namespace frostline::trainer {
namespace {

constexpr std::size_t kLanes = 16;
// As many counters as the widest vectors hold. Narrower processors take them in
// turns.
using Lanes __attribute__((vector_size(64))) = std::uint32_t;

constexpr int kRounds = 20;
constexpr int kRotations[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5},
                                  {6, 20},  {17, 11}, {25, 10}, {18, 20}};
constexpr std::uint32_t kParity = 0x1BD11BDA;

FROSTLINE_INLINE void Mix(Lanes& a, Lanes& b, int by) {
  a += b;
  b = ((b << by) | (b >> (32 - by))) ^ a;
}

FROSTLINE_INLINE void Threefry(std::uint64_t key, std::uint64_t block,
                               std::uint32_t* out) {
  const auto low = static_cast<std::uint32_t>(key);
  const auto high = static_cast<std::uint32_t>(key >> 32);
  const std::uint32_t keys[5] = {low, high, 0, 0, kParity ^ low ^ high};
  const auto next = static_cast<std::uint32_t>(block >> 28);
  const auto counter = static_cast<std::uint32_t>(block * kLanes);
  Lanes x0 = Lanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} +
             counter + keys[0];
  Lanes x1 = Lanes{} + next + keys[1];
  Lanes x2 = Lanes{} + keys[2];
  Lanes x3 = Lanes{} + keys[3];
#pragma GCC unroll 20
  for (int round = 0; round < kRounds; ++round) {
    const int* by = kRotations[round % 8];
    Mix(x0, round % 2 == 0 ? x1 : x3, by[0]);
    Mix(x2, round % 2 == 0 ? x3 : x1, by[1]);
    if (round % 4 != 3) continue;
    const auto turn = static_cast<std::uint32_t>(round / 4 + 1);
    x0 += keys[turn % 5];
    x1 += keys[(turn + 1) % 5];
    x2 += keys[(turn + 2) % 5];
    x3 += keys[(turn + 3) % 5] + turn;
  }
  std::memcpy(out, &x0, sizeof(x0));
  std::memcpy(out + kLanes, &x1, sizeof(x1));
  std::memcpy(out + 2 * kLanes, &x2, sizeof(x2));
  std::memcpy(out + 3 * kLanes, &x3, sizeof(x3));
}

FROSTLINE_INLINE float Wide(float x) { return x; }
FROSTLINE_INLINE float Wide(std::uint16_t x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

FROSTLINE_INLINE void Put(float x, float& y) { y = x; }
// Rounds to nearest, ties to even. A NaN stays one.
FROSTLINE_INLINE void Put(float x, std::uint16_t& y) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = bits + 0x7FFF + ((bits >> 16) & 1);
  y = x == x ? static_cast<std::uint16_t>(rounded >> 16) : 0x7FC0;
}

// Drops by a product with 0, as x * mask does, so that a NaN stays one.
template <typename T>
FROSTLINE_INLINE void DropBlock(std::uint32_t threshold, float scale,
                                const std::uint32_t* __restrict noise,
                                std::size_t n, const T* __restrict x,
                                T* __restrict y,
                                std::uint8_t* __restrict kept) {
  for (std::size_t i = 0; i < n; ++i) {
    Put(Wide(x[i]) * (noise[i] < threshold ? scale : 0.0F), y[i]);
  }
  for (std::size_t i = 0; i < n; ++i) kept[i] = noise[i] < threshold ? 1 : 0;
}

// Returns one row if the text's own numbers lie one after the other.
FROSTLINE_INLINE TextShape Joined(const TextShape& shape) {
  const bool whole_rows = shape.own_columns == shape.columns;
  if (!whole_rows || (shape.planes > 1 && shape.own_rows != shape.rows)) {
    return shape;
  }
  TextShape joined;
  joined.columns = joined.own_columns = shape.own();
  return joined;
}

template <typename T>
FROSTLINE_INLINE void DropAll(const Drop& drop, const TextShape& shape,
                              std::size_t first, std::size_t n, const T* x,
                              T* y, std::uint8_t* kept) {
  const auto [key, threshold, scale] = drop;  // a store could change `drop`
  const TextShape places = Joined(shape);
  alignas(64) std::uint32_t noise[kNoiseBlock];
  alignas(64) std::uint8_t unread[kNoiseBlock];
  std::size_t row = first / places.own_columns;
  std::size_t column = first % places.own_columns;
  for (std::size_t at = 0; at < n; at += kNoiseBlock) {
    Threefry(key, (first + at) / kNoiseBlock, noise);
    const std::size_t drawn = n - at < kNoiseBlock ? n - at : kNoiseBlock;
    for (std::size_t used = 0; used < drawn;) {
      const std::size_t plane = row / places.own_rows;
      const std::size_t in_plane = row % places.own_rows;
      const std::size_t place =
          (plane * places.rows + in_plane) * places.columns + column;
      const std::size_t left = places.own_columns - column;
      const std::size_t some = drawn - used < left ? drawn - used : left;
      std::uint8_t* const marks = kept == nullptr ? unread : kept + place;
      if (some == kNoiseBlock) {  // a length that the compiler knows
        DropBlock(threshold, scale, noise, kNoiseBlock, x + place, y + place,
                  marks);
      } else {
        DropBlock(threshold, scale, noise + used, some, x + place, y + place,
                  marks);
      }
      used += some;
      column += some;
      if (column < places.own_columns) continue;
      column = 0;
      ++row;
    }
  }
}

template <typename T>
FROSTLINE_INLINE void ScaleAll(const std::uint8_t* __restrict kept, float scale,
                               std::size_t n, const T* __restrict x,
                               T* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) {
    Put(Wide(x[i]) * (kept[i] != 0 ? scale : 0.0F), y[i]);
  }
}

// Returns a draw by SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t Mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

}  // namespace

std::uint64_t TextNoise(std::uint64_t seed, std::uint64_t epoch,
                        std::uint64_t text) {
  return Mixed(Mixed(Mixed(seed) ^ epoch) ^ text);
}

std::uint64_t PlaceNoise(std::uint64_t text_noise, std::uint64_t place) {
  return Mixed(text_noise ^ Mixed(place));
}

FROSTLINE_VECTORS
void DrawNoise(std::uint64_t key, std::uint64_t block,
               std::span<std::uint32_t, kNoiseBlock> numbers) {
  Threefry(key, block, numbers.data());
}

FROSTLINE_VECTORS
void DropNumbers(const Drop& drop, const TextShape& shape, std::size_t first,
                 std::size_t n, const float* x, float* y, std::uint8_t* kept) {
  DropAll(drop, shape, first, n, x, y, kept);
}

FROSTLINE_VECTORS
void DropNumbers(const Drop& drop, const TextShape& shape, std::size_t first,
                 std::size_t n, const std::uint16_t* x, std::uint16_t* y,
                 std::uint8_t* kept) {
  DropAll(drop, shape, first, n, x, y, kept);
}

FROSTLINE_VECTORS
void ScaleKept(const std::uint8_t* kept, float scale, std::size_t n,
               const float* x, float* y) {
  ScaleAll(kept, scale, n, x, y);
}

FROSTLINE_VECTORS
void ScaleKept(const std::uint8_t* kept, float scale, std::size_t n,
               const std::uint16_t* x, std::uint16_t* y) {
  ScaleAll(kept, scale, n, x, y);
}

}  // namespace frostline::trainer
