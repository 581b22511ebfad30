// SPDX-License-Identifier: Apache-2.0
//
// The store is full: what it refuses is undone in memory where it was changed,
// and only there; workers that write nothing go on.
#include <set>

#include "server/loop/commit_loop.h"
#include "storage/factory.h"
#include "tests/server/counting_store.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class FullStoreTest : public ::testing::Test {
 protected:
  FullStoreTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    CoordinatorOptions options;
    options.on_fatal = [](const absl::Status& why) { ADD_FAILURE() << why; };
    driver_ = std::make_unique<Driver>(store_, clock_, std::move(options));
    EXPECT_OK(driver_->Register("w", "boot-1"));
  }

  // A study in which so many trials have ended.
  void CreateWith(const std::string& id, int ended) {
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy(id, 1000)));
    for (int i = 0; i < ended; ++i) {
      ASSERT_OK(driver_->Finish(AcquireOf(id), 0.001 * i, 0.5));
    }
  }
  v1::Lease AcquireOf(const std::string& id) {
    v1::AcquireRequest request = Driver::AcquireOf("w", "boot-1");
    request.set_study(StudyNameOf(id));
    const auto reply = driver_->StartAcquire(request).get();
    return reply.ok() && reply->leases_size() == 1 ? reply->leases(0)
                                                   : v1::Lease();
  }
  std::int64_t CountOf(const std::string& id, TrialState state) {
    std::int64_t count = 0;
    storage::TrialQuery query;
    query.study = store_.FindStudy(id)->key;
    query.limit = 1000;
    const auto rows = store_.ListTrials(query);
    for (const storage::TrialRow& row : *rows) {
      if (row.state == state) ++count;
    }
    return count;
  }

  // Step by step, since a leap is a stall, for which no worker is blamed.
  void Pass(Duration time) {
    for (Duration gone{}; gone < time; gone += seconds(1)) {
      clock_.Advance(seconds(1));
      for (int i = 0; i < 2; ++i) (void)driver_->GetStudy("a");
    }
  }

  FakeClock clock_;
  CountingStore store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(FullStoreTest, OnlyWhatTheGroupChangedIsLoadedAgain) {
  CreateWith("large", 60);
  CreateWith("a", 3);
  const v1::Lease lease = AcquireOf("a");
  const v1::StudyUsage cost = driver_->GetStudy("a")->usage();
  EXPECT_EQ(cost.trials(), 3);
  store_.TakeRows();
  store_.SetFull(true);
  EXPECT_THAT(driver_->Finish(lease, 0.5, 2.0), FailsWith(ErrorId::kStoreFull));
  const std::int64_t rows = store_.TakeRows();
  EXPECT_GE(rows, 1);
  EXPECT_LE(rows, 8);  // of study a: what runs and waits, and its summary
  // Until the pause is over nobody asks the store, or loads anything.
  store_.TakeBegins();
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(driver_->Finish(lease, 0.5, 2.0),
                FailsWith(ErrorId::kStoreFull));
    EXPECT_THAT(driver_->Report(lease, 1, 0.5), FailsWith(ErrorId::kStoreFull));
    EXPECT_THAT(driver_->Register("v", "boot-1"),
                FailsWith(ErrorId::kStoreFull));
  }
  EXPECT_EQ(store_.TakeRows(), 0);
  EXPECT_EQ(store_.TakeBegins(), 0);
  EXPECT_EQ(driver_->GetStudy("a")->usage().SerializeAsString(),
            cost.SerializeAsString());
  store_.SetFull(false);
  clock_.Advance(StorePause::kFirst);
  ASSERT_OK(driver_->Finish(lease, 0.5, 2.0));
  EXPECT_EQ(driver_->GetStudy("a")->counts().succeeded(), 4);
  EXPECT_EQ(driver_->GetStudy("a")->usage().train_seconds(), 3.5);
  EXPECT_EQ(driver_->GetStudy("large")->counts().succeeded(), 60);
  EXPECT_EQ(CountOf("a", TrialState::kSucceeded), 4);
}

TEST_F(FullStoreTest, WorkersBeatOnAndKeepTheirLeases) {
  CreateWith("a", 0);
  const v1::Lease lease = AcquireOf("a");
  store_.SetFull(true);
  int answered = 0;
  // Three times as long as a lease.
  for (int beat = 0; beat < 18; ++beat) {
    Pass(seconds(10));
    EXPECT_THAT(driver_->Report(lease, beat, 0.5),
                FailsWith(ErrorId::kStoreFull));
    const auto reply = driver_->Heartbeat("w", "boot-1", lease);
    ASSERT_OK(reply);
    ASSERT_EQ(reply->directives_size(), 1);
    if (reply->directives(0).action() == v1::Directive::CONTINUE) ++answered;
    EXPECT_OK(driver_->GetStudy("a"));
  }
  EXPECT_EQ(answered, 18);
  store_.SetFull(false);
  clock_.Advance(StorePause::kLongest);
  EXPECT_OK(driver_->Report(lease, 18, 0.5));
  EXPECT_OK(driver_->Finish(lease, 0.5));
  EXPECT_EQ(store_.FindTrial(1, 0)->attempt, 1);
}

// Heartbeats and reports come at the same time, so some share a group with what
// is refused: they are asked again of memory as it was.
TEST_F(FullStoreTest, ABeatThatMeetsTheRefusalIsAnsweredToo) {
  CreateWith("a", 0);
  const v1::Lease lease = AcquireOf("a");
  store_.SetFull(true);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::future<absl::StatusOr<v1::HeartbeatReply>>> beats;
    v1::FinishRequest finish;
    *finish.mutable_lease() = Driver::RefOf(lease);
    finish.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
    (*finish.mutable_outcome()->mutable_metrics())["accuracy"] = 0.5;
    v1::HeartbeatRequest beat;
    beat.set_worker("workers/w");
    beat.set_boot_id("boot-1");
    *beat.add_leases()->mutable_lease() = Driver::RefOf(lease);
    auto finished = driver_->Start<v1::FinishReply>(finish);
    for (int i = 0; i < 5; ++i) {
      beats.push_back(driver_->Start<v1::HeartbeatReply>(beat));
    }
    EXPECT_THAT(finished.get(), FailsWith(ErrorId::kStoreFull));
    for (auto& one : beats) {
      const auto reply = one.get();
      ASSERT_OK(reply);
      // None has seen the end that was undone.
      EXPECT_EQ(reply->directives(0).action(), v1::Directive::CONTINUE);
    }
    clock_.Advance(StorePause::kLongest);
  }
}

TEST_F(FullStoreTest, ALostLeaseIsJudgedWhenThereIsRoom) {
  CreateWith("a", 0);
  const v1::Lease lease = AcquireOf("a");
  store_.SetFull(true);
  EXPECT_THAT(driver_->Report(lease, 1, 0.5), FailsWith(ErrorId::kStoreFull));
  // The worker is gone, which is tried to be written down whenever the store is
  // asked again.
  store_.TakeBegins();
  Pass(seconds(100));
  EXPECT_LE(store_.TakeBegins(), 20);
  EXPECT_EQ(store_.FindTrial(1, 0)->state, TrialState::kRunning);
  store_.SetFull(false);
  Pass(StorePause::kLongest + seconds(1));
  EXPECT_EQ(store_.FindTrial(1, 0)->state, TrialState::kQueued);
}

// It was not dead, only silent: what was not written down has not happened.
TEST_F(FullStoreTest, AWorkerThatComesBackBeforeItsLossIsWrittenKeepsItsLease) {
  CreateWith("a", 0);
  const v1::Lease lease = AcquireOf("a");
  store_.SetFull(true);
  Pass(seconds(70));
  ASSERT_OK(driver_->Heartbeat("w", "boot-1", lease));
  store_.SetFull(false);
  Pass(seconds(30));
  EXPECT_EQ(store_.FindTrial(1, 0)->state, TrialState::kRunning);
  EXPECT_OK(driver_->Finish(lease, 0.5));
}

// What a worker that waits has is what it said last and was told was stored.
TEST_F(FullStoreTest, LabelsAndStockThatWereNotStoredGetNoTrial) {
  auto waiting = driver_->StartAcquire(Driver::AcquireOf("w", "boot-1"));
  v1::RegisterRequest again;
  again.set_worker_id("w");
  again.mutable_worker()->set_boot_id("boot-1");
  again.mutable_worker()->set_slots(1);
  (*again.mutable_worker()->mutable_labels())["gpu"] = "a100";
  again.mutable_worker()->mutable_stock();  // of nothing
  store_.SetFull(true);
  EXPECT_THAT(driver_->Call<v1::RegisterReply>(again),
              FailsWith(ErrorId::kStoreFull));
  store_.SetFull(false);
  clock_.Advance(StorePause::kLongest);
  v1::CreateStudyRequest labelled = ExampleStudy("a", 5);
  auto& required =
      *labelled.mutable_settings()->mutable_required_worker_labels();
  required["gpu"] = "a100";
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(labelled));
  for (int i = 0; i < 5; ++i) ASSERT_OK(driver_->GetStudy("a"));
  EXPECT_EQ(waiting.wait_for(seconds(0)), std::future_status::timeout);
  EXPECT_EQ(driver_->Waiting(), 1);
  // It has all, as far as it has said.
  v1::CreateStudyRequest stocked = ExampleStudy("b", 5);
  stocked.mutable_spec()->mutable_data()->set_id("sst2");
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(stocked));
  ASSERT_EQ(waiting.wait_for(seconds(20)), std::future_status::ready);
  const auto reply = waiting.get();
  ASSERT_OK(reply);
  ASSERT_EQ(reply->leases_size(), 1);
  EXPECT_EQ(reply->leases(0).trial(), "studies/b/trials/0");
}

TEST_F(FullStoreTest, WhatIsUndoneWasNever) {
  store_.SetFull(true);
  EXPECT_THAT(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 5)),
              FailsWith(ErrorId::kStoreFull));
  EXPECT_THAT(driver_->GetStudy("a"), FailsWith(ErrorId::kStudyNotFound));
  clock_.Advance(StorePause::kLongest);
  EXPECT_THAT(driver_->Register("v", "boot-1"), FailsWith(ErrorId::kStoreFull));
  v1::HeartbeatRequest beat;
  beat.set_worker("workers/v");
  beat.set_boot_id("boot-1");
  EXPECT_THAT(driver_->Call<v1::HeartbeatReply>(beat),
              FailsWith(ErrorId::kWorkerUnknown));
  clock_.Advance(StorePause::kLongest);
  // A new life that was not stored is none: the old one goes on.
  EXPECT_THAT(driver_->Register("w", "boot-2"), FailsWith(ErrorId::kStoreFull));
  beat.set_worker("workers/w");
  EXPECT_OK(driver_->Call<v1::HeartbeatReply>(beat));
  store_.SetFull(false);
  clock_.Advance(StorePause::kLongest);
  CreateWith("a", 2);
  v1::DeleteStudyRequest remove;
  remove.set_name("studies/a");
  remove.set_request_id("delete-the-study-a-1");
  store_.SetFull(true);
  EXPECT_THAT(driver_->Call<v1::Study>(remove), FailsWith(ErrorId::kStoreFull));
  EXPECT_EQ(driver_->GetStudy("a")->counts().succeeded(), 2);
}

// A failure that is told again and again, since it is refused, is one failure.
TEST_F(FullStoreTest, ARefusedFailureIsHeldAgainstNobody) {
  CreateWith("a", 0);
  const v1::Lease lease = AcquireOf("a");
  v1::FinishRequest failed;
  *failed.mutable_lease() = Driver::RefOf(lease);
  failed.mutable_outcome()->set_kind(v1::Outcome::FAILED);
  failed.mutable_outcome()->set_failure(v1::FAILURE_CLASS_TRIAL);
  failed.mutable_outcome()->set_cause("out of memory");
  store_.SetFull(true);
  for (int i = 0; i < 30; ++i) {
    EXPECT_THAT(driver_->Call<v1::FinishReply>(failed),
                FailsWith(ErrorId::kStoreFull));
    clock_.Advance(StorePause::kLongest);
    ASSERT_OK(driver_->Heartbeat("w", "boot-1", lease));
  }
  store_.SetFull(false);
  ASSERT_OK(driver_->Call<v1::FinishReply>(failed));
  EXPECT_EQ(driver_->GetStudy("a")->state(), v1::STUDY_STATE_ACTIVE);
  EXPECT_EQ(store_.ListWorkers("", 9)->front().state,
            storage::WorkerState::kActive);
}

// Proposals that come while nothing can be stored are not lost, nor are their
// numbers.
TEST_F(FullStoreTest, AStudyGoesOnAsIfNothingHadBeen) {
  CreateWith("a", 2);
  for (int round = 0; round < 10; ++round) {
    store_.SetFull(true);
    auto waiting = driver_->StartAcquire(Driver::AcquireOf("w", "boot-1"));
    for (int i = 0; i < 5; ++i) (void)driver_->GetStudy("a");
    clock_.Advance(milliseconds(50));
    for (int i = 0; i < 5; ++i) (void)driver_->GetStudy("a");
    store_.SetFull(false);
    clock_.Advance(StorePause::kLongest);
    const auto reply = waiting.get();
    v1::Lease lease;
    if (reply.ok() && reply->leases_size() == 1) lease = reply->leases(0);
    if (lease.trial().empty()) lease = AcquireOf("a");
    ASSERT_NE(lease.trial(), "");
    ASSERT_OK(driver_->Finish(lease, 0.5));
  }
  const v1::Study study = *driver_->GetStudy("a");
  EXPECT_EQ(study.counts().succeeded(), 12);
  storage::TrialQuery query;
  query.study = 1;
  query.limit = 1000;
  std::set<std::int64_t> numbers;
  const auto rows = store_.ListTrials(query);
  for (const storage::TrialRow& row : *rows) {
    numbers.insert(row.number);
  }
  EXPECT_EQ(*numbers.rbegin() + 1, static_cast<std::int64_t>(numbers.size()));
}

}  // namespace
}  // namespace frostline::server
