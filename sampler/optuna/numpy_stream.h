// SPDX-License-Identifier: Apache-2.0
//
// File: numpy_stream.h
//
// numpy.random.RandomState(seed): MT19937 (Matsumoto and Nishimura, 1998) and
// doubles of 53 bits, for reproducing Optuna; everything else draws from
// base/rng.h.
#ifndef FROSTLINE_SAMPLER_OPTUNA_NUMPY_STREAM_H_
#define FROSTLINE_SAMPLER_OPTUNA_NUMPY_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace frostline::sampler {

// Not thread-safe; a copy goes on where the original stood.
class NumpyStream {
 public:
  explicit NumpyStream(std::uint32_t seed);

  std::uint32_t NextBits();
  // random_sample(): uniform in [0, 1).
  double Uniform();
  // uniform(lo, hi). REQUIRES: hi - lo is finite.
  double Uniform(double lo, double hi) { return lo + (hi - lo) * Uniform(); }
  // rand(count).
  std::vector<double> Uniforms(std::size_t count);

 private:
  static constexpr std::size_t kWords = 624;

  void Turn();

  std::array<std::uint32_t, kWords> words_;
  std::size_t next_ = kWords;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_NUMPY_STREAM_H_
