// SPDX-License-Identifier: Apache-2.0
#include "server/loop/task_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace frostline::server {
namespace {

TEST(TaskPool, GrowsWhileTasksWaitAndNoFurtherThanToItsMost) {
  TaskPool pool;
  pool.Start(1, 3);
  EXPECT_EQ(pool.threads(), 1u);
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::atomic<int> begun = 0;
  for (int i = 0; i < 5; ++i) {
    pool.Post([&begun, ended] {
      ++begun;
      ended.wait();
    });
  }
  while (begun < 3) std::this_thread::yield();
  EXPECT_EQ(pool.threads(), 3u);
  EXPECT_EQ(pool.Backlog(), 2u);
  end.set_value();
  pool.Stop();
  EXPECT_EQ(begun, 5);
}

TEST(TaskPool, AddsNobodyWhileOneIsIdle) {
  TaskPool pool;
  pool.Start(2, 8);
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  pool.Post([ended] { ended.wait(); });
  pool.Post([ended] { ended.wait(); });
  EXPECT_EQ(pool.threads(), 2u);
  pool.Post([ended] { ended.wait(); });
  EXPECT_EQ(pool.threads(), 3u);
  end.set_value();
  pool.Stop();
}

}  // namespace
}  // namespace frostline::server
