// SPDX-License-Identifier: Apache-2.0
//
// File: noise.h
//
// Random bits that depend on a key and a counter, not on earlier draws:
// Threefry4x32-20 (Salmon et al., 2011). So any thread can draw any part of a
// tensor, and vector instructions draw sixteen numbers at once. No LibTorch.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_NOISE_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_NOISE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace frostline::trainer {

// The size of a block of numbers.
inline constexpr std::size_t kNoiseBlock = 64;

// Writes block `block` of the key's numbers, each of 32 random bits: number i
// is word i / 16 of the counter 16 * block + i % 16. Any thread may call it.
void DrawNoise(std::uint64_t key, std::uint64_t block,
               std::span<std::uint32_t, kNoiseBlock> numbers);

// Returns the noise of a text in an epoch. It does not depend on the texts
// beside it. `text` is the text's key (data/token_store.h), folded.
std::uint64_t TextNoise(std::uint64_t seed, std::uint64_t epoch,
                        std::uint64_t text);
// Returns the key of a text's numbers at one place of a model. Each place has
// its own number.
std::uint64_t PlaceNoise(std::uint64_t text_noise, std::uint64_t place);

// Where one text's numbers lie in a tensor of planes x rows x columns; the rest
// is padding. They are counted as if there were no padding, so that its amount
// changes no draw.
struct TextShape {
  std::size_t planes = 1;
  std::size_t rows = 1;
  std::size_t columns = 1;
  std::size_t own_rows = 1;
  std::size_t own_columns = 1;

  std::size_t all() const { return planes * rows * columns; }
  std::size_t own() const { return planes * own_rows * own_columns; }
};

// What to draw and how to scale.
struct Drop {
  std::uint64_t key = 0;
  std::uint32_t threshold = 0;  // of 2^32
  float scale = 1.0F;
};

// Drops n of the text's numbers from number `first` on, a multiple of
// kNoiseBlock. `kept` gets 1 where noise is below `threshold`, else 0, and y
// gets x * scale or 0. All three point at the text's first number, and `kept`
// may be null. Padding is left alone.
void DropNumbers(const Drop& drop, const TextShape& shape, std::size_t first,
                 std::size_t n, const float* x, float* y, std::uint8_t* kept);
// The same for numbers in bf16, as their bits. Products are rounded to nearest.
void DropNumbers(const Drop& drop, const TextShape& shape, std::size_t first,
                 std::size_t n, const std::uint16_t* x, std::uint16_t* y,
                 std::uint8_t* kept);

// Sets y[i] to x[i] * scale where kept[i], else to 0.
void ScaleKept(const std::uint8_t* kept, float scale, std::size_t n,
               const float* x, float* y);
void ScaleKept(const std::uint8_t* kept, float scale, std::size_t n,
               const std::uint16_t* x, std::uint16_t* y);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_NOISE_H_
