// SPDX-License-Identifier: Apache-2.0
//
// File: watched.h
//
// Whether a sanitizer watches the test, which then takes many times as long.
#ifndef FROSTLINE_TESTS_SUPPORT_WATCHED_H_
#define FROSTLINE_TESTS_SUPPORT_WATCHED_H_

#include <cstdint>

namespace frostline {

#ifdef FROSTLINE_WATCHED
inline constexpr bool kWatched = true;
inline constexpr std::uint64_t kSlower = 10;  // so many times fewer cases then
#else
inline constexpr bool kWatched = false;
inline constexpr std::uint64_t kSlower = 1;
#endif

// For tests that measure how often something holds: they run the same lines
// many times, and say no more when watched.
inline constexpr char kMeasuresOnly[] = "a measure, on lines that others run";

}  // namespace frostline

#endif  // FROSTLINE_TESTS_SUPPORT_WATCHED_H_
