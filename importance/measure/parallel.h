// SPDX-License-Identifier: Apache-2.0
//
// File: parallel.h
//
// The same work for many indices, on several threads. Which thread has which
// index is left to chance, so a body writes only what belongs to its index, and
// the caller adds up in order afterwards: then nothing depends on the threads.
//
//   std::vector<Tree> trees(count);
//   ParallelFor(threads, count, [&](std::size_t i) { trees[i] = Grow(i); });
#ifndef FROSTLINE_IMPORTANCE_MEASURE_PARALLEL_H_
#define FROSTLINE_IMPORTANCE_MEASURE_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace frostline::importance {

// More are never started, whatever is asked for.
inline constexpr int kMaxThreads = 64;

// `threads`, where 0 or less stands for one for each core; 1 … kMaxThreads.
int ThreadsFor(int threads);

// Calls body(0) … body(count - 1), each once, and returns when all are done.
// The caller's own thread takes part, and does everything when no other can be
// started. When bodies throw, the rest is left undone and the exception of the
// lowest index that threw comes out of this call, never out of a thread.
void ParallelFor(int threads, std::size_t count,
                 const std::function<void(std::size_t)>& body);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_PARALLEL_H_
