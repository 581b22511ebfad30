// SPDX-License-Identifier: Apache-2.0
//
// File: noise.h
//
// Random bits by number instead of by turn: Threefry4x32-20 (Salmon et al.,
// 2011) is a function of a key and a counter. So any thread can draw any part
// of a tensor, and vector instructions draw sixteen at once. No LibTorch.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_NOISE_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_NOISE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace frostline::trainer {

// Numbers come in blocks of so many.
inline constexpr std::size_t kNoiseBlock = 64;

// Writes block `block` of the key's numbers, each of 32 random bits: number i
// is word i / 16 of the counter 16 * block + i % 16. Any thread may call it.
void DrawNoise(std::uint64_t key, std::uint64_t block,
               std::span<std::uint32_t, kNoiseBlock> numbers);

// Of n numbers from number `first` of the key's, a multiple of kNoiseBlock,
// says in kept[i] whether number i is below `threshold`, 1 or 0, and writes
// x[i] * scale or 0 to y[i]. `kept` may be null.
struct Drop {
  std::uint64_t key = 0;
  std::uint32_t threshold = 0;  // of 2^32
  float scale = 1.0F;
};
void DropNumbers(const Drop& drop, std::uint64_t first, std::size_t n,
                 const float* x, float* y, std::uint8_t* kept);
// The same of numbers in bf16, as their bits; products are rounded to nearest.
void DropNumbers(const Drop& drop, std::uint64_t first, std::size_t n,
                 const std::uint16_t* x, std::uint16_t* y, std::uint8_t* kept);

// y[i] = x[i] * scale where kept[i], else 0.
void ScaleKept(const std::uint8_t* kept, float scale, std::size_t n,
               const float* x, float* y);
void ScaleKept(const std::uint8_t* kept, float scale, std::size_t n,
               const std::uint16_t* x, std::uint16_t* y);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_NOISE_H_
