// SPDX-License-Identifier: Apache-2.0
//
// File: numpy.h
//
// NumPy's random stream, sum and sort, equal to the last bit, since that
// decides which of equally good candidates Optuna takes.
#ifndef FROSTLINE_SAMPLER_OPTUNA_NUMPY_H_
#define FROSTLINE_SAMPLER_OPTUNA_NUMPY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace frostline::sampler {

// The stream of numpy.random.RandomState(seed): MT19937 (Matsumoto and
// Nishimura, 1998) with doubles of 53 bits. It reproduces Optuna; everything
// else draws from base/rng.h.
//
// It is not thread-safe; a copy goes on where the original stood.
class NumpyStream {
 public:
  explicit NumpyStream(std::uint32_t seed);

  std::uint32_t NextBits();
  // Returns random_sample(), uniform in [0, 1).
  double Uniform();
  // Returns uniform(lo, hi). REQUIRES: hi - lo is finite.
  double Uniform(double lo, double hi) { return lo + (hi - lo) * Uniform(); }
  // Returns rand(count).
  std::vector<double> Uniforms(std::size_t count);

 private:
  static constexpr std::size_t kWords = 624;

  void Turn();

  std::array<std::uint32_t, kWords> words_;
  std::size_t next_ = kWords;
};

// The last bit of a sum often decides which of equally good candidates Optuna
// proposes.
//
// Returns numpy.sum of a contiguous array, which adds by halves, blocks of 128
// in eight lanes.
double NumpySum(std::span<const double> numbers);

// NumPy 2 sorts so on x86-64 with AVX2, which gives equal observations kernels
// of different widths.
//
// Returns numpy.argsort, which is not stable: equal numbers come as from a
// bitonic network up to 256 of them, and as from a quicksort in vectors of four
// above (of eight with AVX-512, where the order may differ). REQUIRES: none is
// NaN.
std::vector<std::size_t> NumpyArgSort(const std::vector<double>& numbers);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_NUMPY_H_
