// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace frostline {
namespace {

TEST(Mutex, LetsOneThreadInAtATime) {
  Mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10000; ++k) {
        const MutexLock lock(&mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 40000);
}

TEST(CondVar, WakesWhoWaits) {
  Mutex mutex;
  CondVar changed;
  int stage = 0;
  std::thread other([&] {
    const MutexLock lock(&mutex);
    while (stage != 1) changed.Wait(&mutex);
    stage = 2;
    changed.SignalAll();
  });
  {
    const MutexLock lock(&mutex);
    stage = 1;
    changed.Signal();
    while (stage != 2) changed.Wait(&mutex);
  }
  other.join();
  EXPECT_EQ(stage, 2);
}

TEST(CondVar, HoldsTheMutexAgainAfterADeadline) {
  Mutex mutex;
  CondVar changed;
  bool taken = true;
  {
    const MutexLock lock(&mutex);
    const auto now = std::chrono::steady_clock::now();
    while (changed.WaitUntil(&mutex, now)) {
    }
    std::thread other([&] {
      const MutexLock other_lock(&mutex);
      taken = false;
    });
    EXPECT_TRUE(taken);
    mutex.Unlock();
    other.join();
    mutex.Lock();
  }
  EXPECT_FALSE(taken);
}

}  // namespace
}  // namespace frostline
