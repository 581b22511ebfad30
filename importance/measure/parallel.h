// SPDX-License-Identifier: Apache-2.0
//
// File: parallel.h
//
// Runs a body for each index on several threads. Which thread gets an index is
// chance, so a body writes only what belongs to its index, and the caller adds
// up in order: then no number depends on threads.
//
//   std::vector<Tree> trees(count);
//   ParallelFor(threads, count, [&](std::size_t i) { trees[i] = Grow(i); });
#ifndef FROSTLINE_IMPORTANCE_MEASURE_PARALLEL_H_
#define FROSTLINE_IMPORTANCE_MEASURE_PARALLEL_H_

#include <cstddef>
#include <functional>
#include <stop_token>

#include "absl/status/status.h"

namespace frostline::importance {

inline constexpr int kMaxThreads = 64;

// Takes 0 or less as one for each core, and returns 1 … kMaxThreads.
int ThreadsFor(int threads);

// Calls body(0) … body(count - 1) once each, and waits. The caller's thread
// takes part, alone if no other can be started. When bodies throw, the rest is
// left undone, and the exception of the lowest index leaves this call. After a
// stop the rest is left undone, too.
void ParallelFor(int threads, std::size_t count,
                 const std::function<void(std::size_t)>& body,
                 const std::stop_token& stop = {});

// A tree looks at every row and parameter on each level: with ten thousand
// trials of hundreds of parameters it takes seconds.

// Fails with REQUEST_INVALID at options.trees, with how many there may be,
// where the answer's forest takes many minutes.
absl::Status CheckTreeWork(std::size_t rows, std::size_t parameters, int trees);

// Says whether all small forests together take about a minute.
bool CanGrowForIntervals(std::size_t rows, std::size_t parameters, int trees);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_PARALLEL_H_
