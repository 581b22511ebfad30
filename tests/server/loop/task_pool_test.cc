// SPDX-License-Identifier: Apache-2.0
#include "server/loop/task_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

namespace frostline::server {
namespace {

TEST(TaskPool, GrowsWhileItIsStuckAndNoFurtherThanToItsMost) {
  TaskPool pool;
  pool.Start(1);
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::atomic<std::size_t> begun = 0;
  for (int i = 0; i < 5; ++i) {
    pool.Post([&begun, ended] {
      ++begun;
      ended.wait();
    });
  }
  // A look after one that saw another task begin finds nothing stuck.
  for (std::size_t looks = 0; looks < 9; ++looks) {
    while (begun < pool.threads()) std::this_thread::yield();
    pool.AddThreadIfStuck(3);
  }
  EXPECT_EQ(pool.threads(), 3u);
  EXPECT_EQ(pool.Backlog(), 2u);
  end.set_value();
  pool.Stop();
  EXPECT_EQ(begun, 5u);
}

TEST(TaskPool, AddsNobodyWhereTasksWaitButGoOn) {
  TaskPool pool;
  pool.Start(1);
  std::atomic<int> ended = 0;
  for (int i = 0; i < 20; ++i) {
    std::promise<void> go;
    pool.Post([&] { go.get_future().wait(); });
    pool.Post([&] { ++ended; });
    go.set_value();
    while (ended <= i) std::this_thread::yield();
    pool.AddThreadIfStuck(8);
  }
  EXPECT_EQ(pool.threads(), 1u);
}

TEST(TaskPool, AddsNobodyWhereNothingWaits) {
  TaskPool pool;
  pool.Start(2);
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  pool.Post([ended] { ended.wait(); });
  while (pool.Backlog() > 0) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) pool.AddThreadIfStuck(8);
  EXPECT_EQ(pool.threads(), 2u);
  end.set_value();
}

int NicenessOfThisThread() {
  return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)));
}

TEST(TaskPool, ItsThreadsAreAsNiceAsTold) {
  TaskPool pool;
  pool.Start(1, 3);
  std::promise<int> niceness;
  pool.Post([&] { niceness.set_value(NicenessOfThisThread()); });
  EXPECT_EQ(niceness.get_future().get(),
            std::min(NicenessOfThisThread() + 3, 19));
}

}  // namespace
}  // namespace frostline::server
