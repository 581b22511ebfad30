// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/ledger.h"

#include "gmock/gmock.h"
#include "tests/server/ledger/ledger_fixture.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LedgerTest : public LedgerFixture {
 protected:
  const std::set<TrialKey>& HeldByW() {
    return ledger_.workers().Find("w")->holds;
  }
  // Everything that is known of a trial only while it runs.
  void SayAll(TrialKey trial) {
    ledger_.running().NoteProgress(trial, {.step = 3});
    v1::LeaseProgress said;
    said.mutable_lease()->set_attempt(1);
    said.mutable_progress()->set_epoch(0.5);
    ledger_.progress().Post(trial, said, 0);
    ledger_.WantPruned(trial, 1, "worse than the median");
  }
  static Result Failed(const std::string& cause) {
    Result failed;
    failed.kind = Result::Kind::kFailed;
    failed.cause = cause;
    return failed;
  }
  void ExpectForgotten(TrialKey trial) {
    EXPECT_EQ(ledger_.running().leases().Find(trial), std::nullopt);
    EXPECT_FALSE(ledger_.running().ProgressOf(trial).has_value());
    EXPECT_FALSE(ledger_.progress().Of(trial, 1).has_value());
    EXPECT_EQ(ledger_.running().PruneReason(trial, 1), std::nullopt);
    EXPECT_THAT(HeldByW(), IsEmpty());
  }
};

TEST_F(LedgerTest, ARunningTrialIsKnownWithItsLeaseAndWorker) {
  const TrialKey trial = AddRunning();
  SayAll(trial);
  EXPECT_THAT(HeldByW(), ElementsAre(trial));
  EXPECT_EQ(ledger_.running().leases().Find(trial),
            clock_.Steady() + ExampleLease().ttl);
  EXPECT_EQ(ledger_.running().PruneReason(trial, 1), "worse than the median");
  EXPECT_EQ(ledger_.running().PruneReason(trial, 2), std::nullopt);
}

TEST_F(LedgerTest, WhatIsKnownOfARunIsForgottenHoweverItEnds) {
  for (const bool lost : {true, false}) {
    const TrialKey trial = AddRunning();
    SayAll(trial);
    const OpenTrial open = *book_->Find(trial.number);
    ASSERT_OK(ledger_.Apply(
        *batch_, *book_,
        lost ? Lose(open, "silent", {}, 0) : *Cancel(open, "enough", 0)));
    ExpectForgotten(trial);
  }
}

TEST_F(LedgerTest, ADeletedStudyTakesItsRunsWithIt) {
  const TrialKey trial = AddRunning();
  SayAll(trial);
  ledger_.ForgetStudy(*book_);
  ExpectForgotten(trial);
  EXPECT_EQ(ledger_.Find(trial.study), nullptr);
  EXPECT_THAT(ledger_.FindStudy("studies/a"),
              FailsWith(ErrorId::kStudyNotFound));
}

TEST_F(LedgerTest, ATrialThatNoLongerRunsIsNotToBePruned) {
  const TrialKey trial = AddRunning();
  ASSERT_OK(ledger_.Apply(*batch_, *book_,
                          *Cancel(*book_->Find(trial.number), "enough", 0)));
  ledger_.WantPruned(trial, 1, "late");
  EXPECT_EQ(ledger_.running().PruneReason(trial, 1), std::nullopt);
}

TEST_F(LedgerTest, AnEndIsToldAndTheLastOneCompletesTheStudy) {
  for (int i = 0; i < 2; ++i) {
    const TrialKey trial = AddRunning();
    ASSERT_OK(ledger_.Apply(*batch_, *book_,
                            *Cancel(*book_->Find(trial.number), "enough", 0)));
  }
  EXPECT_THAT(ended_, ElementsAre(0, 1));
  EXPECT_EQ(book_->row().state, storage::StudyState::kCompleted);
  EXPECT_TRUE(ledger_.TakeSomeStudyEnded());
  EXPECT_FALSE(ledger_.TakeSomeStudyEnded());
}

TEST_F(LedgerTest, AnEndedTrialIsAskedOfTheStoreOnceItCanBeReadThere) {
  const TrialKey trial = AddRunning();
  ASSERT_OK(ledger_.Apply(*batch_, *book_,
                          *Cancel(*book_->Find(trial.number), "enough", 0)));
  StoredRows rows;
  EXPECT_OK(ledger_.FindTrial("studies/a/trials/0", rows));
  Commit();
  EXPECT_FALSE(ledger_.FindTrial("studies/a/trials/0", rows).ok());
  ASSERT_TRUE(rows.lacks());
  rows.Read(*store_);
  ASSERT_OK_AND_ASSIGN(const NamedTrial named,
                       ledger_.FindTrial("studies/a/trials/0", rows));
  EXPECT_EQ(named.trial.row.state, TrialState::kCancelled);
}

TEST_F(LedgerTest, WhoReadTheStoreBeforeTheCommitFindsTheEndInMemory) {
  const TrialKey trial = AddRunning();
  Commit();
  const Lookup reading = ledger_.row_lookups().Begin();
  StoredRows rows;
  rows.Trial(trial);
  rows.Read(*store_);  // it runs, as far as the store knows
  ASSERT_OK(ledger_.Apply(*batch_, *book_,
                          *Cancel(*book_->Find(trial.number), "enough", 0)));
  Commit();
  ASSERT_OK_AND_ASSIGN(const LeasedTrial leased,
                       ledger_.FindLeased(LeaseOf(trial, 1), rows));
  EXPECT_EQ(leased.trial.row.state, TrialState::kCancelled);
}

TEST_F(LedgerTest, ALostLeaseIsTakenUpAgainWhileNobodyHasTheTrial) {
  const TrialKey trial = AddRunning();
  ASSERT_OK(ledger_.Apply(
      *batch_, *book_,
      Lose(*book_->Find(trial.number), "silent", {}, clock_.Wall())));
  StoredRows rows;
  ASSERT_OK(ledger_.FindHeld(*batch_, LeaseOf(trial, 1), rows));
  EXPECT_EQ(book_->Find(trial.number)->row.state, TrialState::kRunning);
  EXPECT_THAT(HeldByW(), ElementsAre(trial));
}

TEST_F(LedgerTest, MemoryIsLoadedAgainWithTheLeasesThatWereKnown) {
  const TrialKey trial = AddRunning();
  Commit();
  const auto end = ledger_.running().leases().Find(trial);
  clock_.Advance(std::chrono::seconds(5));
  ASSERT_OK(ledger_.Load(std::chrono::seconds(100)));
  EXPECT_EQ(ledger_.running().leases().Find(trial), end);
}

TEST_F(LedgerTest, AStudyThatFailsOnTwoWorkersIsPausedAndTheyGoOn) {
  AddWorker("v");
  for (int trial = 0; trial < 4; ++trial) {
    for (const char* const worker : {"v", "w"}) {
      ledger_.JudgeRun(*batch_, *book_, trial, worker, Failed("no such file"));
    }
  }
  EXPECT_EQ(book_->row().state, storage::StudyState::kPaused);
  EXPECT_EQ(book_->row().state_reason,
            "its trials fail on 2 workers, 8 times in a row; the last: no such "
            "file");
  for (const char* const worker : {"v", "w"}) {
    EXPECT_EQ(ledger_.workers().Find(worker)->row.state,
              storage::WorkerState::kActive);
  }
}

TEST_F(LedgerTest, AStudyThatIsResumedBeginsAnew) {
  AddWorker("v");
  for (int trial = 0; trial < 40; ++trial) {  // more were running
    for (const char* const worker : {"v", "w"}) {
      ledger_.JudgeRun(*batch_, *book_, trial, worker, Failed("no such file"));
    }
  }
  ASSERT_OK(
      ledger_.SetState(*batch_, *book_, storage::StudyState::kActive, ""));
  ledger_.JudgeRun(*batch_, *book_, 50, "w", Failed("one bad point"));
  EXPECT_EQ(book_->row().state, storage::StudyState::kActive);
}

TEST_F(LedgerTest, ANodeThatFailsWhereOthersSucceedIsOutOfServiceForAPause) {
  for (const char* const id : {"b", "c"}) {
    StudyBook& book = *AddStudy(id, 90);
    ledger_.JudgeRun(*batch_, book, 0, "v", Result());
    for (int i = 0; i < 8; ++i) {
      ledger_.JudgeRun(*batch_, book, 1, "w", Failed("bad memory"));
    }
  }
  WorkerEntry& worker = *ledger_.workers().Find("w");
  EXPECT_EQ(worker.row.state, storage::WorkerState::kQuarantined);
  ledger_.JudgeRun(*batch_, *book_, 0, "w", Result());  // of another slot
  EXPECT_EQ(worker.row.failures_in_a_row, 16);
  EXPECT_THAT(ledger_.TakeBackWorkers(*batch_), IsEmpty());
  clock_.Advance(std::chrono::minutes(5));
  EXPECT_THAT(ledger_.TakeBackWorkers(*batch_), ElementsAre("w"));
  EXPECT_EQ(worker.row.state, storage::WorkerState::kActive);
}

}  // namespace
}  // namespace frostline::server
