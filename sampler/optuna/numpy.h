// SPDX-License-Identifier: Apache-2.0
//
// File: numpy.h
//
// numpy.random.RandomState(seed) is MT19937 (Matsumoto and Nishimura, 1998)
// with doubles of 53 bits. It reproduces Optuna; everything else draws from
// base/rng.h.
#ifndef FROSTLINE_SAMPLER_OPTUNA_NUMPY_H_
#define FROSTLINE_SAMPLER_OPTUNA_NUMPY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace frostline::sampler {

// It is not thread-safe; a copy goes on where the original stood.
class NumpyStream {
 public:
  explicit NumpyStream(std::uint32_t seed);

  std::uint32_t NextBits();
  // Is random_sample(), uniform in [0, 1).
  double Uniform();
  // Is uniform(lo, hi). REQUIRES: hi - lo is finite.
  double Uniform(double lo, double hi) { return lo + (hi - lo) * Uniform(); }
  // Is rand(count).
  std::vector<double> Uniforms(std::size_t count);

 private:
  static constexpr std::size_t kWords = 624;

  void Turn();

  std::array<std::uint32_t, kWords> words_;
  std::size_t next_ = kWords;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_NUMPY_H_
