// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <filesystem>
#include <future>
#include <set>

#include "server/loop/commit_loop.h"
#include "storage/factory.h"
#include "storage/trial_store.h"
#include "tests/contract/deferring_store.h"
#include "tests/contract/full_rows.h"
#include "tests/server/counting_store.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The store is full: what it refuses is undone in memory where it was changed,
// and only there; workers that write nothing go on.

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

// Two coordinators on one store, and a store that refuses at the commit what it
// has let pass: nobody is told OK for what is not stored, and no worker loses
// its lease to a neighbour's mistake.

class LeadTest : public ::testing::Test {
 protected:
  LeadTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {}

  // Ends the process, as far as a test may.
  std::unique_ptr<Driver> Start() {
    CoordinatorOptions options;
    options.on_fatal = [this](const absl::Status& status) {
      ++fatal_;
      EXPECT_THAT(status, FailsWith(ErrorId::kNotLeader));
    };
    return std::make_unique<Driver>(store_, clock_, std::move(options));
  }
  // As if somebody else had given the trial to another attempt.
  void LeaseToAnother(const v1::Lease& lease) {
    storage::TrialRow row = *store_.FindTrial(1, 0);
    const storage::TrialGuard guard = test::GuardOf(row);
    row.attempt += 1;
    row.secret = SecretString("another");
    ASSERT_OK(test::Write(store_.below(),
                          [&](storage::Transaction& transaction) {
                            return transaction.UpdateTrial(row, guard);
                          }))
        << lease.trial();
  }

  FakeClock clock_;
  test::DeferringStore store_;
  std::atomic<int> fatal_ = 0;
};

TEST_F(LeadTest, ACoordinatorThatLostTheLeadEndsAndItsCallersTryAgain) {
  const auto old = Start();
  ASSERT_OK(old->Call<v1::CreateStudyReply>(ExampleStudy("a", 5)));
  const auto current = Start();
  EXPECT_THAT(old->Register("w", "boot-1"), FailsWith(ErrorId::kNotLeader));
  EXPECT_EQ(fatal_, 1);
  EXPECT_THAT(old->Register("w", "boot-1"),
              FailsWith(ErrorId::kCoordinatorDraining));
  EXPECT_EQ(fatal_, 1);
  ASSERT_OK(current->Register("w", "boot-1"));
  EXPECT_NE(current->AcquireOne("w", "boot-1").trial(), "");
}

TEST_F(LeadTest, AGuardRefusedAtTheCommitIsLoadedAndDecidedAgain) {
  const auto driver = Start();
  ASSERT_OK(driver->Call<v1::CreateStudyReply>(ExampleStudy("a", 5)));
  ASSERT_OK(driver->Register("w", "boot-1"));
  ASSERT_OK(driver->Register("v", "boot-1"));
  const v1::Lease stale = driver->AcquireOne("w", "boot-1");
  const v1::Lease lease = driver->AcquireOne("v", "boot-1");
  LeaseToAnother(stale);
  // Memory says yes, the store says no; then memory knows.
  EXPECT_THAT(driver->Report(stale, 1, 0.5), FailsWith(ErrorId::kStoreBusy));
  EXPECT_THAT(driver->Report(stale, 1, 0.5), FailsWith(ErrorId::kLeaseLost));
  EXPECT_EQ(store_.ListMeasurements({.study = 1, .attempt = 1})->size(), 0u);
  EXPECT_OK(driver->Report(lease, 1, 0.5));
  EXPECT_OK(driver->Finish(lease, 0.5));
  EXPECT_EQ(store_.FindTrial(1, 1)->state, TrialState::kSucceeded);
  EXPECT_EQ(fatal_, 0);
}

// What was posted before the loop starts is committed as one group.
class LoopTest : public LeadTest {
 protected:
  LoopTest()
      : loop_(store_, clock_,
              {.turn = [](Batch&) {},
               .next_due = [] { return std::nullopt; },
               .committed = [this] { ++committed_; },
               .undo = [] {},
               .reload = [this] { ++reloaded_; },
               .fatal = [this](const absl::Status&) { ++fatal_; }}) {}

  // One request; its caller's answer is answers_[i].
  void Ask(absl::FunctionRef<absl::Status(storage::Transaction&)> body,
           std::size_t i) {
    answers_.resize(std::max(answers_.size(), i + 1));
    const auto run = [body, i, this](Batch& batch) {
      const absl::Status written = batch.Write(body);
      batch.Then([written, i, this](const absl::Status& committed) {
        answers_[i] = committed.ok() ? written : committed;
      });
    };
    ASSERT_TRUE(loop_.Post(run));
  }
  void Run(storage::Epoch epoch) {
    loop_.Start(epoch);
    loop_.Stop();
  }

  CommitLoop loop_;
  std::vector<absl::Status> answers_;
  int committed_ = 0;
  int reloaded_ = 0;
};

absl::Status Harmless(storage::Transaction& transaction) {
  return transaction.PutWorker(test::FullWorker("w"));
}
absl::Status Refused(storage::Transaction& transaction) {
  return transaction.UpdateTrial(test::FullTrial(1, 0), storage::TrialGuard());
}

TEST_F(LoopTest, OneRefusalUndoesTheGroupAndEverybodyTriesAgain) {
  Ask(Harmless, 0);
  Ask(Refused, 1);
  Run(*store_.TakeLead());
  EXPECT_THAT(answers_[0], FailsWith(ErrorId::kStoreBusy));
  EXPECT_THAT(answers_[1], FailsWith(ErrorId::kStoreBusy));
  EXPECT_EQ(store_.ListWorkers("", 9)->size(), 0u);
  EXPECT_EQ(reloaded_, 1);
  EXPECT_EQ(committed_ + fatal_, 0);
}

TEST_F(LoopTest, ALeadLostIsFatalAlsoWhereItShowsAtTheCommit) {
  const storage::Epoch old = *store_.TakeLead();
  ASSERT_OK(store_.TakeLead());
  Ask(Harmless, 0);
  Run(old);
  EXPECT_THAT(answers_[0], FailsWith(ErrorId::kNotLeader));
  EXPECT_EQ(fatal_, 1);
  EXPECT_EQ(committed_ + reloaded_, 0);
}

// The database is removed under a whole coordinator.

class RemovedStoreTest : public ::testing::Test {
 protected:
  RemovedStoreTest()
      : store_(*storage::OpenStore({.data_folder = folder_.File("data")})) {
    CoordinatorOptions options;
    options.on_fatal = [this](const absl::Status& why) {
      fatal_.set_value(why);
    };
    driver_ = std::make_unique<Driver>(*store_, clock_, std::move(options));
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 5)));
    EXPECT_OK(driver_->Register("w", "boot-1"));
    lease_ = driver_->AcquireOne("w", "boot-1");
  }
  void Remove() {
    std::filesystem::remove(folder_.File("data/frostline.sqlite"));
  }

  TempFolder folder_;
  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::promise<absl::Status> fatal_;
  std::unique_ptr<Driver> driver_;
  v1::Lease lease_;
};

TEST_F(RemovedStoreTest, ACoordinatorThatWritesNothingNoticesInHalfASecond) {
  auto fatal = fatal_.get_future();
  Remove();
  clock_.Advance(milliseconds(500));
  ASSERT_EQ(fatal.wait_for(seconds(20)), std::future_status::ready);
  EXPECT_THAT(fatal.get(), FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(driver_->Finish(lease_, 0.5),
              FailsWith(ErrorId::kCoordinatorDraining));
}

TEST_F(RemovedStoreTest, NothingIsAcknowledgedAfterwards) {
  auto fatal = fatal_.get_future();
  Remove();
  EXPECT_THAT(driver_->Finish(lease_, 0.5), FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(fatal.get(), FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(driver_->Heartbeat("w", "boot-1", lease_),
              FailsWith(ErrorId::kCoordinatorDraining));
}

}  // namespace
}  // namespace frostline::server
