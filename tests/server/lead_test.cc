// SPDX-License-Identifier: Apache-2.0
//
// Two coordinators on one store, and a store that refuses at the commit what it
// has let pass: nobody is told OK for what is not stored, and no worker loses
// its lease to a neighbour's mistake.
#include <atomic>

#include "server/loop/commit_loop.h"
#include "storage/factory.h"
#include "storage/trial_store.h"
#include "tests/contract/deferring_store.h"
#include "tests/contract/full_rows.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

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

}  // namespace
}  // namespace frostline::server
