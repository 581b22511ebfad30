// SPDX-License-Identifier: Apache-2.0
#include "base/rng.h"

#include <bit>
#include <cmath>

namespace frostline {
namespace {

std::uint64_t SplitMix(std::uint64_t& x) {
  x += 0x9e3779b97f4a7c15u;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed, std::uint64_t stream) {
  // The stream is hashed before it meets the seed, so that (1, 2) and (2, 1)
  // are far apart.
  std::uint64_t x = stream;
  std::uint64_t y = seed ^ SplitMix(x);
  for (std::uint64_t& word : state_) word = SplitMix(y);
}

std::uint64_t Rng::Next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::Below(std::uint64_t bound) {
  // Draws in the last, incomplete run of `bound` values are thrown away.
  const std::uint64_t reject_below = (0 - bound) % bound;
  std::uint64_t draw = Next();
  while (draw < reject_below) draw = Next();
  return draw % bound;
}

double Rng::Normal() {
  for (;;) {
    const double u = 2.0 * Uniform() - 1.0;
    const double v = 2.0 * Uniform() - 1.0;
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * std::log(s) / s);
  }
}

std::uint64_t Fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace frostline
