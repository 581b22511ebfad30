// SPDX-License-Identifier: Apache-2.0
//
// File: sobol.h
//
// Sobol' sequences (1967) fill a cube evenly, best at 2^m points; the direction
// numbers are those of Joe and Kuo, 2008. Scrambling (Owen, 1995) keeps them
// even, makes each point uniform in the cube and gives every seed another
// sequence.
#ifndef FROSTLINE_SAMPLER_DRAW_SOBOL_H_
#define FROSTLINE_SAMPLER_DRAW_SOBOL_H_

#include <array>
#include <cstdint>
#include <vector>

namespace frostline::sampler {

// Any thread may use it.
class SobolSequence {
 public:
  // REQUIRES: 0 <= dimensions <= kMaxParameters.
  explicit SobolSequence(int dimensions);

  // Returns a fraction of 2^32. Points come in the order of the Gray code;
  // point 0 is the origin.
  std::uint32_t At(std::uint32_t n, std::size_t dimension) const;

 private:
  std::vector<std::array<std::uint32_t, 32>> directions_;
};

// Returns 53 bits in [0, 1): each of the 32 of `coordinate` is flipped or not
// by a coin that depends on all bits before it, the rest are coins. `key` names
// the coins, one for each dimension and seed.
double Scrambled(std::uint32_t coordinate, std::uint64_t key);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_SOBOL_H_
