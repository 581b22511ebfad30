// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/journal.h"

#include "base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/contract/full_rows.h"
#include "tests/server/ledger/ledger_fixture.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

absl::Status Nothing(storage::Transaction&) { return absl::OkStatus(); }

class JournalTest : public LedgerFixture {
 protected:
  absl::Status WriteWorker(const WorkerEntry* before) {
    return journal_.WriteWorker(*batch_, "v", before, Nothing);
  }

  Journal journal_;
};

TEST_F(JournalTest, AWriteThatFailsNotesNothing) {
  const auto fails = [](storage::Transaction&) {
    return absl::InternalError("refused");
  };
  EXPECT_FALSE(journal_.WriteStudy(*batch_, book_->row(), fails).ok());
  EXPECT_FALSE(journal_.WriteWorker(*batch_, "v", nullptr, fails).ok());
  EXPECT_THAT(journal_.before().studies, IsEmpty());
  EXPECT_THAT(journal_.before().workers, IsEmpty());
}

TEST_F(JournalTest, AWorkerIsNotedAsItWasBeforeTheFirstWrite) {
  WorkerEntry entry;
  entry.row.failures_in_a_row = 1;
  entry.unheard_since = 7;
  ASSERT_OK(WriteWorker(&entry));
  entry.row.failures_in_a_row = 2;
  entry.unheard_since.reset();
  ASSERT_OK(WriteWorker(&entry));
  const Journal::Before before = journal_.TakeBefore();
  ASSERT_TRUE(before.workers.at("v").has_value());
  EXPECT_EQ(before.workers.at("v")->row.failures_in_a_row, 1);
  EXPECT_EQ(before.workers.at("v")->unheard_since, 7);
  EXPECT_THAT(journal_.before().workers, IsEmpty());
}

TEST_F(JournalTest, ANewWorkerWasNotThereHoweverOftenItIsWritten) {
  ASSERT_OK(WriteWorker(nullptr));
  WorkerEntry entry;
  ASSERT_OK(WriteWorker(&entry));
  EXPECT_FALSE(journal_.before().workers.at("v").has_value());
}

TEST_F(JournalTest, ANewStudyHasItsKeyOnceItIsWritten) {
  storage::StudyRow row;
  row.id = "new";
  ASSERT_OK(journal_.WriteStudy(*batch_, row, [&row](storage::Transaction&) {
    row.key = 5;
    return absl::OkStatus();
  }));
  EXPECT_THAT(journal_.before().studies, ElementsAre(Pair(5, "new")));
}

TEST_F(JournalTest, ALeaseIsNotedAsItFirstEnded) {
  const SteadyTime end = clock_.Steady();
  journal_.NoteLease({1, 0}, std::nullopt);
  journal_.NoteLease({1, 1}, end);
  journal_.NoteLease({1, 1}, end + std::chrono::seconds(1));
  EXPECT_THAT(journal_.before().leases, ElementsAre(Pair(TrialKey{1, 1}, end)));
}

TEST_F(JournalTest, WhatIsOnDiskIsKeptUntilEveryReaderSeesIt) {
  storage::AttemptRow attempt = test::FullAttempt(1, 0, 1);
  const storage::AttemptRow stale = attempt;
  attempt.cause = "lost since";
  journal_.NoteStudy(book_->row());
  journal_.NoteAttempt(attempt);
  journal_.NoteChanged(1);
  EXPECT_THAT(journal_.changed(), ElementsAre(1));
  journal_.Committed();
  EXPECT_THAT(journal_.before().studies, IsEmpty());
  EXPECT_THAT(journal_.changed(), IsEmpty());
  EXPECT_EQ(journal_.Freshest(stale).cause, "lost since");
  EXPECT_THAT(journal_.TakeSeen(), ElementsAre(1));
  EXPECT_EQ(&journal_.Freshest(stale), &stale);
  EXPECT_THAT(journal_.TakeSeen(), IsEmpty());
}

TEST_F(JournalTest, AStudyThatIsLoadedAgainHasStillChanged) {
  const storage::AttemptRow attempt = test::FullAttempt(1, 0, 1);
  journal_.NoteAttempt(attempt);
  journal_.NoteChanged(1);
  journal_.ForgetStudy(1);
  EXPECT_EQ(&journal_.Freshest(attempt), &attempt);
  EXPECT_THAT(journal_.changed(), ElementsAre(1));
}

// What the ledger makes of it.

class UndoneTest : public LedgerFixture {
 protected:
  storage::WorkerRow Worker(const std::string& id) {
    storage::WorkerRow row;
    row.id = id;
    row.boot_id = "boot-1";
    return row;
  }
  void Undo() {
    batch_ = std::make_unique<Batch>(*store_, epoch_);
    ASSERT_OK(ledger_.Undo());
    book_ = *ledger_.FindStudy("studies/a");
  }
};

TEST_F(UndoneTest, WorkersAreAsBeforeButForWhenTheyWereHeard) {
  Commit();
  storage::WorkerRow drained = ledger_.workers().Find("w")->row;
  drained.state = storage::WorkerState::kDraining;
  drained.last_seen = 9;
  ASSERT_OK(ledger_.Register(*batch_, Worker("gone")));
  Commit();
  ASSERT_OK(ledger_.PutWorker(*batch_, *ledger_.workers().Find("w"), drained));
  ASSERT_OK(ledger_.Register(*batch_, Worker("new")));
  ASSERT_OK(ledger_.ForgetWorker(*batch_, "gone"));
  Undo();
  EXPECT_EQ(ledger_.workers().Find("w")->row.state,
            storage::WorkerState::kActive);
  EXPECT_EQ(ledger_.workers().Find("w")->row.last_seen, 9);
  EXPECT_EQ(ledger_.workers().Find("new"), nullptr);
  EXPECT_NE(ledger_.workers().Find("gone"), nullptr);
}

TEST_F(UndoneTest, ThatAWorkerWasHeardIsWrittenAgain) {
  Commit();
  WorkerEntry& entry = *ledger_.workers().Find("w");
  entry.unheard_since = 1;
  entry.row.last_seen = 2;
  ledger_.WriteDownHeard(*batch_);
  EXPECT_EQ(entry.unheard_since, std::nullopt);
  Undo();
  EXPECT_EQ(entry.unheard_since, 1);
  ledger_.WriteDownHeard(*batch_);
  Commit();
  EXPECT_EQ(entry.unheard_since, std::nullopt);
}

TEST_F(UndoneTest, ALeaseThatTheGroupEndedEndsWhenItWould) {
  const TrialKey trial = AddRunning();
  Commit();
  const auto end = ledger_.running().leases().Find(trial);
  clock_.Advance(std::chrono::seconds(5));
  ASSERT_OK(ledger_.Apply(*batch_, *book_,
                          Lose(*book_->Find(trial.number), "silent", {}, 0)));
  ASSERT_EQ(ledger_.running().leases().Find(trial), std::nullopt);
  Undo();
  EXPECT_EQ(ledger_.running().leases().Find(trial), end);
  EXPECT_THAT(ledger_.workers().Find("w")->holds, ElementsAre(trial));
}

TEST_F(UndoneTest, AStudyIsReadAgainAndANewOneIsGone) {
  Commit();
  ASSERT_OK(ledger_.SetState(*batch_, *book_, storage::StudyState::kPaused,
                             "by hand"));
  AddQueued();
  AddStudy("b", 2);
  EXPECT_EQ(ledger_.Touched().size(), 2);
  Undo();
  EXPECT_EQ(book_->row().state, storage::StudyState::kActive);
  EXPECT_THAT(book_->open(), IsEmpty());
  EXPECT_FALSE(ledger_.HasId("b"));
  EXPECT_THAT(ledger_.Touched(), IsEmpty());
}

}  // namespace
}  // namespace frostline::server
