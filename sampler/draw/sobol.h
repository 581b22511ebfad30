// SPDX-License-Identifier: Apache-2.0
//
// File: sobol.h
//
// Sobol' sequences: points that fill a cube evenly, the first 2^m of them ever
// more so (I. M. Sobol', 1967), with the direction numbers of Joe and Kuo,
// 2008, up to kMaxParameters dimensions. Scrambled (A. B. Owen, "Randomly
// permuted (t,m,s)-nets and (t,s)-sequences", 1995) they are as even, each
// point is uniform in the cube, and every seed gives another sequence.
#ifndef FROSTLINE_SAMPLER_DRAW_SOBOL_H_
#define FROSTLINE_SAMPLER_DRAW_SOBOL_H_

#include <array>
#include <cstdint>
#include <vector>

namespace frostline::sampler {

// Immutable; any thread may use it.
class SobolSequence {
 public:
  // REQUIRES: 0 <= dimensions <= kMaxParameters.
  explicit SobolSequence(int dimensions);

  // Coordinate `dimension` of point n, as a fraction of 2^32. Points come in
  // the order of the Gray code, as is usual; point 0 is the origin.
  std::uint32_t At(std::uint32_t n, std::size_t dimension) const;

 private:
  std::vector<std::array<std::uint32_t, 32>> directions_;
};

// A coordinate in [0, 1) with 53 bits, of which the first 32 are those of
// `coordinate`, each flipped or not by a coin that depends on all bits before
// it, and the rest are coins too. `key` names the coins: one for each dimension
// and seed.
double Scrambled(std::uint32_t coordinate, std::uint64_t key);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_SOBOL_H_
