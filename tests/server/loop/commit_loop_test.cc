// SPDX-License-Identifier: Apache-2.0
#include "server/loop/commit_loop.h"

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

#include "server/loop/task_pool.h"
#include "storage/factory.h"
#include "tests/contract/full_rows.h"
#include "tests/server/counting_store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;

// Groups that the store refuses: who is told what, and how often it is asked.

absl::Status PutWorker(storage::Transaction& transaction) {
  return transaction.PutWorker(test::FullWorker("w"));
}

class CommitLoopTest : public ::testing::Test {
 protected:
  CommitLoopTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})),
        loop_(store_, clock_,
              {.turn = [](Batch&) {},
               .next_due = [this]() -> std::optional<SteadyTime> {
                 if (!is_due_) return std::nullopt;
                 return clock_.Steady();
               },
               .committed = [this] { ++committed_; },
               .undo = [this] { ++undone_; },
               .reload = [this] { ++reloaded_; },
               .fatal = [this](const absl::Status&) { ++fatal_; }}) {
    loop_.Start(*store_.TakeLead());
  }

  // The answers of calls that are posted as one: each writes or does not.
  std::vector<absl::Status> Ask(const std::vector<bool>& writes) {
    std::vector<std::promise<absl::Status>> promises(writes.size());
    std::promise<void> gathered;
    std::shared_future<void> open = gathered.get_future().share();
    // The loop waits here until all of them are queued.
    (void)loop_.Post([open](Batch&) { open.wait(); });
    for (std::size_t i = 0; i < writes.size(); ++i) {
      (void)loop_.Post([&promises, i, does = writes[i]](Batch& batch) {
        if (does) (void)batch.Write(PutWorker);  // even if it is overlooked
        batch.Then([&promises, i](const absl::Status& committed) {
          promises[i].set_value(committed);
        });
      });
    }
    gathered.set_value();
    std::vector<absl::Status> answers;
    for (auto& promise : promises) {
      answers.push_back(promise.get_future().get());
    }
    return answers;
  }
  absl::Status AskToWrite() { return Ask({true})[0]; }

  FakeClock clock_;
  CountingStore store_;
  std::atomic<bool> is_due_ = false;
  std::atomic<int> committed_ = 0;
  std::atomic<int> undone_ = 0;
  std::atomic<int> reloaded_ = 0;
  std::atomic<int> fatal_ = 0;
  CommitLoop loop_;
};

TEST_F(CommitLoopTest, LeasesGoFirstAndNobodyWaitsForEver) {
  std::promise<void> posted;
  std::shared_future<void> open = posted.get_future().share();
  std::promise<void> begun;
  (void)loop_.Post([open, &begun](Batch&) {
    begun.set_value();
    open.wait();
  });
  begun.get_future().wait();
  std::vector<Urgency> ran;
  for (const Urgency urgency :
       {Urgency::kRead, Urgency::kChange, Urgency::kLease}) {
    for (int i = 0; i < 300; ++i) {
      (void)loop_.Post([&ran, urgency](Batch&) { ran.push_back(urgency); },
                       urgency);
    }
  }
  EXPECT_EQ(loop_.Backlog(Urgency::kLease), 300u);
  posted.set_value();
  loop_.Stop();
  ASSERT_EQ(ran.size(), 900u);
  const auto in_first_group = [&ran](Urgency urgency) {
    return std::count(ran.begin(), ran.begin() + 256, urgency);
  };
  EXPECT_EQ(in_first_group(Urgency::kLease), 224);
  EXPECT_EQ(in_first_group(Urgency::kChange), 16);
  EXPECT_EQ(in_first_group(Urgency::kRead), 16);
}

TEST_F(CommitLoopTest, AFullStoreIsNotAskedAgainForAGrowingPause) {
  store_.SetFull(true);
  for (const int pause : {100, 200, 400, 800, 1600, 3200, 5000, 5000}) {
    SCOPED_TRACE(pause);
    EXPECT_THAT(AskToWrite(), FailsWith(ErrorId::kStoreFull));
    EXPECT_EQ(undone_.exchange(0), 1);
    EXPECT_EQ(store_.TakeBegins(), 1);
    clock_.Advance(milliseconds(pause - 1));
    for (int i = 0; i < 20; ++i) {
      EXPECT_THAT(AskToWrite(), FailsWith(ErrorId::kStoreFull));
    }
    EXPECT_EQ(undone_ + reloaded_ + fatal_, 0);
    EXPECT_EQ(store_.TakeBegins(), 0);
    clock_.Advance(milliseconds(1));
  }
  store_.SetFull(false);
  EXPECT_OK(AskToWrite());
  // What was stored ends it: the next pause is short again.
  store_.SetFull(true);
  EXPECT_THAT(AskToWrite(), FailsWith(ErrorId::kStoreFull));
  store_.SetFull(false);
  clock_.Advance(milliseconds(100));
  EXPECT_OK(AskToWrite());
  EXPECT_EQ(reloaded_ + fatal_, 0);
}

TEST_F(CommitLoopTest, WhoWritesNothingIsAnsweredWhileTheStorePauses) {
  store_.SetFull(true);
  EXPECT_THAT(AskToWrite(), FailsWith(ErrorId::kStoreFull));
  const std::vector<absl::Status> answers =
      Ask({false, true, false, true, false});
  for (const std::size_t reader : {0U, 2U, 4U}) EXPECT_OK(answers[reader]);
  for (const std::size_t writer : {1U, 3U}) {
    EXPECT_THAT(answers[writer], FailsWith(ErrorId::kStoreFull));
  }
}

// What they saw of the group's changes is undone, so it must not be answered.
TEST_F(CommitLoopTest, TheWholeGroupFailsThatFindsTheStoreFull) {
  store_.SetFull(true);
  for (const absl::Status& answer : Ask({false, true, false})) {
    EXPECT_THAT(answer, FailsWith(ErrorId::kStoreFull));
  }
}

TEST_F(CommitLoopTest, WhatIsDueWaitsWhileTheStorePauses) {
  is_due_ = true;
  store_.SetFull(true);
  EXPECT_THAT(AskToWrite(), FailsWith(ErrorId::kStoreFull));
  committed_ = 0;
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_LE(committed_, 20);  // turns, of which it would be thousands
}

// Answers what a test wants to each write.
class FailureTest : public CommitLoopTest,
                    public testing::WithParamInterface<ErrorId> {};

TEST_P(FailureTest, AfterAFailureOfTheStoreNothingIsAcknowledged) {
  std::promise<absl::Status> overlooked;
  ASSERT_TRUE(loop_.Post([&](Batch& batch) {
    (void)batch.Write([](storage::Transaction&) {
      return MakeError(GetParam(), "the disk", "mend it");
    });
    batch.Then([&overlooked](const absl::Status& committed) {
      overlooked.set_value(committed);
    });
  }));
  EXPECT_THAT(overlooked.get_future().get(), FailsWith(GetParam()));
  EXPECT_EQ(fatal_, 1);
  EXPECT_THAT(AskToWrite(), FailsWith(ErrorId::kCoordinatorDraining));
  EXPECT_EQ(fatal_, 1);
  EXPECT_EQ(store_.ListWorkers("", 9)->size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(OfEachKind, FailureTest,
                         testing::Values(ErrorId::kStoreIo,
                                         ErrorId::kStoreCorrupt,
                                         ErrorId::kStoreUnwritable,
                                         ErrorId::kStoreRemoved,
                                         ErrorId::kNotLeader));

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
