// SPDX-License-Identifier: Apache-2.0
//
// File: watched.h
//
// Says whether the test runs under a sanitizer, which makes it many times
// slower.
#ifndef FROSTLINE_TESTS_SUPPORT_WATCHED_H_
#define FROSTLINE_TESTS_SUPPORT_WATCHED_H_

#include <cstdint>

namespace frostline {

#ifdef FROSTLINE_WATCHED
inline constexpr bool kWatched = true;
inline constexpr std::uint64_t kSlower = 10;  // divides the number of cases
#else
inline constexpr bool kWatched = false;
inline constexpr std::uint64_t kSlower = 1;
#endif

// The reason to skip a test that measures how often something holds: it runs
// the same lines many times, and a sanitizer finds nothing more in it.
inline constexpr char kMeasuresOnly[] = "a measure, on lines that others run";

}  // namespace frostline

#endif  // FROSTLINE_TESTS_SUPPORT_WATCHED_H_
