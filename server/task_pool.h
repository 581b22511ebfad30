// SPDX-License-Identifier: Apache-2.0
//
// File: reader_pool.h
//
// A few threads for what only reads: lists, curves, importance. They look at
// snapshots of the store and never wait for the writer.
#ifndef FROSTLINE_SERVER_READER_POOL_H_
#define FROSTLINE_SERVER_READER_POOL_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"

namespace frostline {

// Any thread may post; tasks start in order. Stop() runs what was posted.
class ReaderPool {
 public:
  ReaderPool() = default;
  ~ReaderPool() { Stop(); }

  void Start(int threads);
  void Stop();
  void Post(absl::AnyInvocable<void()> task);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<absl::AnyInvocable<void()>> tasks_;  // guarded by mutex_
  bool stopping_ = false;                         // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace frostline

#endif  // FROSTLINE_SERVER_READER_POOL_H_
