// SPDX-License-Identifier: Apache-2.0
#include "server/loop/strand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <numeric>
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

}  // namespace
}  // namespace frostline::server
