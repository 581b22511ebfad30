// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/sobol.h"

#include <bit>
#include <cstddef>

namespace frostline::sampler {
namespace {

// For each dimension after the first: its primitive polynomial, bit i being
// the coefficient of x^i, and as many initial numbers as it has degrees.
#include "sampler/draw/sobol_table.inc"

using Directions = std::array<std::uint32_t, 32>;

// Bratley and Fox, "Algorithm 659", 1988, eq. 2; `next` steps through the
// table.
Directions ReadDirections(const std::uint16_t*& next) {
  const std::uint32_t polynomial = *next++;
  const auto degree = static_cast<std::size_t>(std::bit_width(polynomial)) - 1;
  Directions v{};
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i < degree) {
      v[i] = std::uint32_t{*next++} << (31 - i);
      continue;
    }
    v[i] = v[i - degree] ^ (v[i - degree] >> degree);
    for (std::size_t k = 1; k < degree; ++k) {
      if ((polynomial >> (degree - k) & 1u) != 0u) v[i] ^= v[i - k];
    }
  }
  return v;
}

// The finaliser of SplitMix64: every bit of `x` decides about every bit.
std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

SobolSequence::SobolSequence(int dimensions) {
  const std::uint16_t* next = kDirectionNumbers;
  for (int d = 0; d < dimensions; ++d) {
    Directions first{};  // of the first dimension: van der Corput's sequence
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = 1u << (31 - i);
    directions_.push_back(d == 0 ? first : ReadDirections(next));
  }
}

std::uint32_t SobolSequence::At(std::uint32_t n, std::size_t dimension) const {
  const Directions& v = directions_[dimension];
  std::uint32_t bits = 0;
  for (std::uint32_t gray = n ^ (n >> 1); gray != 0; gray &= gray - 1) {
    bits ^= v[static_cast<std::size_t>(std::countr_zero(gray))];
  }
  return bits;
}

double Scrambled(std::uint32_t coordinate, std::uint64_t key) {
  std::uint64_t bits = 0;
  for (int i = 31; i >= 0; --i) {
    // The bits above bit i behind a leading one: a name for where we are.
    const std::uint64_t node = ((std::uint64_t{1} << 32) | coordinate) >>
                               (static_cast<unsigned>(i) + 1);
    const std::uint64_t coin = Mix(key + node * 0x9e3779b97f4a7c15u) >> 63;
    bits |= ((coordinate >> i & 1u) ^ coin) << i;
  }
  const std::uint64_t leaf = (std::uint64_t{1} << 32) | coordinate;
  const std::uint64_t tail = Mix(key + leaf * 0x9e3779b97f4a7c15u) >> 43;
  return static_cast<double>(bits << 21 | tail) * 0x1.0p-53;
}

}  // namespace frostline::sampler
