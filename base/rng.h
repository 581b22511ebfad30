// SPDX-License-Identifier: Apache-2.0
//
// File: rng.h
//
// A random generator that gives the same numbers on every machine: xoshiro256++
// (Blackman and Vigna, 2021), seeded through SplitMix64 (Steele, Lea and Flood,
// 2014). The distributions are our own, since those of <random> differ between
// standard libraries and would break replays.
//
//   Rng rng(study_seed, trial_number);   // a stream of its own per trial
//   double u = rng.Uniform();            // [0, 1)
#ifndef FROSTLINE_BASE_RNG_H_
#define FROSTLINE_BASE_RNG_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace frostline {

// A stream of random numbers. Not thread-safe: make one for each piece of work.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : Rng(seed, 0) {}
  // Streams of one seed are independent.
  Rng(std::uint64_t seed, std::uint64_t stream);

  std::uint64_t Next();
  // Returns a number uniform in [0, 1), with 53 random bits.
  double Uniform();
  // Returns a number uniform in {0, …, bound-1}, without modulo bias. REQUIRES:
  // bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Returns a standard normal number, by the polar method.
  double Normal();

 private:
  std::array<std::uint64_t, 4> state_;
};

// Returns the 64-bit FNV-1a hash (Fowler, Noll and Vo). It is the same on every
// machine and in every version, so it may be stored.
std::uint64_t Fnv1a(std::string_view bytes);

}  // namespace frostline

#endif  // FROSTLINE_BASE_RNG_H_
