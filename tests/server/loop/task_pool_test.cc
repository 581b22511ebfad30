// SPDX-License-Identifier: Apache-2.0
#include "server/loop/task_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <numeric>
#include <thread>
#include <vector>

namespace frostline::server {
namespace {

TEST(Strand, RunsItsTasksInOrderAndOneAtATime) {
  TaskPool pool;
  const auto strand = std::make_shared<Strand>(pool);
  std::vector<int> seen;  // no lock: that is what a strand is for
  for (int i = 0; i < 1000; ++i) {
    strand->Post([&seen, i] { seen.push_back(i); });
  }
  pool.Start(4);
  pool.Stop();
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(seen, expected);
}

TEST(Strand, ABusyOneHoldsUpNoOther) {
  TaskPool pool;
  pool.Start(2);
  const auto busy = std::make_shared<Strand>(pool);
  const auto other = std::make_shared<Strand>(pool);
  std::promise<void> other_ran;
  std::promise<void> busy_ran;
  busy->Post([&] {
    other_ran.get_future().wait();
    busy_ran.set_value();
  });
  other->Post([&] { other_ran.set_value(); });
  EXPECT_EQ(busy_ran.get_future().wait_for(std::chrono::seconds(60)),
            std::future_status::ready);
  pool.Stop();
}

TEST(Strand, StaysUntilItsLastTaskHasRun) {
  TaskPool pool;
  std::atomic<int> ran = 0;
  {
    const auto strand = std::make_shared<Strand>(pool);
    for (int i = 0; i < 3; ++i) strand->Post([&ran] { ++ran; });
  }
  pool.Start(2);
  pool.Stop();
  EXPECT_EQ(ran, 3);
}

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
