// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/numpy.h"

namespace frostline::sampler {

NumpyStream::NumpyStream(std::uint32_t seed) {
  // Knuth's linear congruential filling, the generator's own of 2002.
  words_[0] = seed;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    const std::uint32_t before = words_[i - 1];
    words_[i] = 1812433253u * (before ^ (before >> 30)) + i;
  }
}

void NumpyStream::Turn() {
  constexpr std::size_t kShift = 397;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t mixed =
        (words_[i] & 0x80000000u) | (words_[(i + 1) % kWords] & 0x7fffffffu);
    words_[i] = words_[(i + kShift) % kWords] ^ (mixed >> 1) ^
                ((mixed & 1u) != 0 ? 0x9908b0dfu : 0u);
  }
  next_ = 0;
}

std::uint32_t NumpyStream::NextBits() {
  if (next_ == kWords) Turn();
  std::uint32_t bits = words_[next_++];
  bits ^= bits >> 11;
  bits ^= (bits << 7) & 0x9d2c5680u;
  bits ^= (bits << 15) & 0xefc60000u;
  return bits ^ (bits >> 18);
}

double NumpyStream::Uniform() {
  const double high = NextBits() >> 5;  // 27 bits
  const double low = NextBits() >> 6;   // 26 bits
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::vector<double> NumpyStream::Uniforms(std::size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = Uniform();
  return numbers;
}

}  // namespace frostline::sampler
