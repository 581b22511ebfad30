// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/ledger.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/wire_values.h"
#include "server/ledger/attempt_spans.h"
#include "server/ledger/stored_rows.h"
#include "server/ledger/upkeep.h"
#include "storage/factory.h"
#include "tests/contract/forwarding_store.h"
#include "tests/contract/full_rows.h"
#include "tests/server/driver.h"
#include "tests/server/ledger/ledger_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

storage::TrialRow Numbered(std::int64_t number) {
  storage::TrialRow row;
  row.number = number;
  return row;
}

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
      ledger_.JudgeRun(*batch_, *book_, Numbered(trial), worker,
                       Failed("no such file"));
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
      ledger_.JudgeRun(*batch_, *book_, Numbered(trial), worker,
                       Failed("no such file"));
    }
  }
  ASSERT_OK(
      ledger_.SetState(*batch_, *book_, storage::StudyState::kActive, ""));
  ledger_.JudgeRun(*batch_, *book_, Numbered(50), "w", Failed("one bad point"));
  EXPECT_EQ(book_->row().state, storage::StudyState::kActive);
}

// The fixture's own worker "w" and "v" are in service.
TEST_F(LedgerTest, CrashesAlikeOnEveryWorkerPauseAStudyAndOnOneAloneNot) {
  AddWorker("v");
  for (auto& [id, worker] : ledger_.workers().all()) {
    worker.row.last_seen = clock_.Wall();
  }
  Result crash = Failed("FL-5003: KeyError");
  crash.failure = FailureClass::kTrial;
  storage::TrialRow trial = Numbered(0);
  for (const double rate : {0.1, 0.2, 0.3}) {
    trial.point = {rate};
    ++trial.number;
    ledger_.JudgeRun(*batch_, *book_, trial, "w", crash);
  }
  EXPECT_EQ(book_->row().state, storage::StudyState::kActive);
  trial.number = 7;
  ledger_.JudgeRun(*batch_, *book_, trial, "v", crash);
  EXPECT_EQ(book_->row().state, storage::StudyState::kPaused);
  EXPECT_EQ(book_->row().state_reason,
            "trials 1 and 7 failed alike: FL-5003: KeyError; mend it, then "
            "resume the study");
}

TEST_F(LedgerTest, ANodeThatFailsWhereOthersSucceedIsOutOfServiceForAPause) {
  for (const char* const id : {"b", "c"}) {
    StudyBook& book = *AddStudy(id, 90);
    ledger_.JudgeRun(*batch_, book, Numbered(0), "v", Result());
    for (int i = 0; i < 8; ++i) {
      ledger_.JudgeRun(*batch_, book, Numbered(1), "w", Failed("bad memory"));
    }
  }
  WorkerEntry& worker = *ledger_.workers().Find("w");
  EXPECT_EQ(worker.row.state, storage::WorkerState::kQuarantined);
  ledger_.JudgeRun(*batch_, *book_, Numbered(0), "w",
                   Result());  // of another slot
  EXPECT_EQ(worker.row.failures_in_a_row, 16);
  EXPECT_THAT(ledger_.TakeBackWorkers(*batch_), IsEmpty());
  clock_.Advance(std::chrono::minutes(5));
  EXPECT_THAT(ledger_.TakeBackWorkers(*batch_), ElementsAre("w"));
  EXPECT_EQ(worker.row.state, storage::WorkerState::kActive);
}

// What was written is kept in memory as long as somebody may have read the
// store before it was there.

const RequestMark kMark{"request-1", "StopStudy", 7};

TEST(Lookups, OneThatBeganEarlierHoldsBackTheOldestGroup) {
  Lookups lookups;
  Lookup first = lookups.Begin();
  lookups.NextGroup();
  const Lookup second = lookups.Begin();
  EXPECT_EQ(lookups.OldestGroup(), 0);
  first = nullptr;
  EXPECT_EQ(lookups.OldestGroup(), 1);
  EXPECT_EQ(lookups.group(), 1);
}

class ReplyBookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(store_, storage::OpenStore(storage::StoreSpec{
                                     .data_folder = "", .ephemeral = true}));
    ASSERT_OK_AND_ASSIGN(const storage::Epoch epoch, store_->TakeLead());
    ASSERT_OK_AND_ASSIGN(transaction_, store_->Begin(epoch));
  }
  void Remember() {
    ASSERT_OK(transaction_->Operation(
        [this] { return replies_.Remember(*transaction_, kMark, "done", 0); }));
  }
  void Commit() {
    lookups_.NextGroup();
    replies_.Committed();
  }
  bool IsFresh() {
    return replies_.Find(kMark, std::nullopt).value().has_value();
  }

  Lookups lookups_;
  ReplyBook replies_{lookups_};
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<storage::Transaction> transaction_;
};

TEST_F(ReplyBookTest, WhoLookedBeforeTheCommitFindsTheAnswerHere) {
  const Lookup looking = lookups_.Begin();
  Remember();
  Commit();
  EXPECT_TRUE(IsFresh());
}

TEST_F(ReplyBookTest, WhatAllCanReadIsForgotten) {
  Lookup looking = lookups_.Begin();
  Remember();
  Commit();
  looking = nullptr;
  Commit();
  EXPECT_FALSE(IsFresh());
}

TEST_F(ReplyBookTest, AGroupThatIsUndoneIsForgottenAtOnce) {
  const Lookup looking = lookups_.Begin();
  Remember();
  replies_.Undone();
  EXPECT_FALSE(IsFresh());
}

TEST_F(ReplyBookTest, AnIdForAnotherRequestIsRefused) {
  Remember();
  EXPECT_THAT(replies_.Find({"request-1", "StopStudy", 8}, std::nullopt),
              FailsWith(ErrorId::kRequestIdReused));
}

// Old rows go a slice at a time, in groups of their own, and calls come between
// them.

// It counts slices, and the most rows that one transaction may have lost.
class SlicedStore final : public test::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::atomic<int> slices = 0;
  std::atomic<std::int64_t> most_rows = 0;

  absl::StatusOr<std::unique_ptr<storage::Transaction>> Begin(
      storage::Epoch epoch) override {
    ASSIGN_OR_RETURN(auto begun, below().Begin(epoch));
    return std::make_unique<Sliced>(*this, std::move(begun));
  }

 private:
  class Sliced final : public test::ForwardingTransaction {
   public:
    Sliced(SlicedStore& store, std::unique_ptr<storage::Transaction> begun)
        : ForwardingTransaction(std::move(begun)), store_(store) {}
    absl::StatusOr<bool> PurgeStudy(storage::StudyKey study,
                                    std::int64_t most) override {
      Note(most);
      return ForwardingTransaction::PurgeStudy(study, most);
    }
    absl::StatusOr<bool> ForgetRepliesBefore(WallMicros time,
                                             std::int64_t most) override {
      Note(most);
      return ForwardingTransaction::ForgetRepliesBefore(time, most);
    }

   private:
    void Note(std::int64_t most) {
      ++store_.slices;
      rows_ += most;
      store_.most_rows = std::max(store_.most_rows.load(), rows_);
    }
    SlicedStore& store_;
    std::int64_t rows_ = 0;
  };
};

class UpkeepTest : public ::testing::Test {
 protected:
  UpkeepTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {}

  // A study that was deleted long ago, with so many steps.
  void AddDeleted(int steps) {
    ASSERT_OK_AND_ASSIGN(const storage::Epoch epoch, store_.TakeLead());
    ASSERT_OK_AND_ASSIGN(const auto transaction, store_.below().Begin(epoch));
    ASSERT_OK(transaction->Operation([&]() -> absl::Status {
      storage::StudyRow row = test::FullStudy("gone");
      row.state = storage::StudyState::kDeleted;
      row.expires = 1;
      ASSIGN_OR_RETURN(const storage::StudyKey key,
                       transaction->InsertStudy(row));
      RETURN_IF_ERROR(transaction->InsertTrial(test::FullTrial(key, 0)));
      for (int step = 0; step < steps; ++step) {
        RETURN_IF_ERROR(transaction->AddMeasurements(
            {test::FullMeasurement(key, 0, 1, step)}));
      }
      return absl::OkStatus();
    }));
    ASSERT_OK(transaction->Commit());
  }
  bool IsThere() {
    return !store_.ListStudies({.with_deleted = true})->empty();
  }
  // Until `done`, or half a minute of the machine's.
  template <typename Done>
  void TurnUntil(Done done) {
    const auto give_up =
        std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done() && std::chrono::steady_clock::now() < give_up) {
      clock_.Advance(std::chrono::milliseconds(50));
      ASSERT_OK(driver_->Register("w", "boot-1"));
    }
    ASSERT_TRUE(done());
  }
  void Start() {
    driver_ = nullptr;
    driver_ = std::make_unique<Driver>(store_, clock_);
    ASSERT_OK(driver_->started());
  }

  FakeClock clock_;
  SlicedStore store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(UpkeepTest, ALargeStudyIsPurgedInSlices) {
  AddDeleted(2600);
  Start();
  TurnUntil([&] { return !IsThere(); });
  EXPECT_GE(store_.slices, 4);
  EXPECT_LE(store_.most_rows, 1000);
}

TEST_F(UpkeepTest, APurgeGoesOnAfterARestart) {
  AddDeleted(2600);
  Start();
  TurnUntil([&] { return store_.slices >= 2; });
  EXPECT_TRUE(IsThere());
  Start();
  EXPECT_THAT(driver_->GetStudy("gone"), FailsWith(ErrorId::kStudyNotFound));
  TurnUntil([&] { return !IsThere(); });
  EXPECT_LE(store_.most_rows, 1000);
}

// A trial's life as spans: given a coordinator, when attempts end, then a sink
// has their trace.

class Kept final : public spans::SpanSink {
 public:
  void Take(spans::Span span) override {
    const std::lock_guard lock(mutex_);
    spans_.push_back(std::move(span));
  }
  // The newest of that name.
  spans::Span Newest(const std::string& name) {
    const std::lock_guard lock(mutex_);
    for (auto span = spans_.rbegin(); span != spans_.rend(); ++span) {
      if (span->name == name) return *span;
    }
    ADD_FAILURE() << "no span " << name;
    return {};
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return spans_.size();
  }

 private:
  std::mutex mutex_;
  std::vector<spans::Span> spans_;
};

class AttemptSpansTest : public ::testing::Test {
 protected:
  AttemptSpansTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 100)));
    EXPECT_OK(driver_->Register("w1", "boot-1"));
    EXPECT_OK(driver_->Register("w2", "boot-1"));
  }
  void Restart() {
    driver_.reset();
    CoordinatorOptions options;
    options.spans = &kept_;
    options.restart_grace = seconds(0);
    driver_ = std::make_unique<Driver>(*store_, clock_, std::move(options));
    ASSERT_OK(driver_->started());
  }
  // What is answered after it has been committed is seen by this call.
  void Settle() { (void)driver_->GetStudy("a"); }
  // Its worker is silent for longer than its lease. In small steps: a
  // coordinator that stood still takes no lease away.
  void LoseIt() {
    for (int second = 0; second < 62; ++second) {
      clock_.Advance(seconds(1));
      for (int i = 0; i < 2; ++i) Settle();
    }
    ASSERT_NE(kept_.Newest("attempt").error, "");
  }

  FakeClock clock_;
  Kept kept_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(AttemptSpansTest, ALifeIsTheTraceOfItsLease) {
  const WallMicros created = clock_.Wall();
  const v1::Lease lease = driver_->AcquireOne("w1", "boot-1");
  clock_.Advance(seconds(5));
  ASSERT_OK(driver_->Finish(lease, 0.5));
  Settle();

  const v1::LeaseRef ref = Driver::RefOf(lease);
  const spans::Span trial = kept_.Newest("trial");
  EXPECT_EQ(trial.context.trace_id, proto::TraceOfAttempt(ref).trace_id);
  EXPECT_EQ(trial.context.span_id, proto::RootSpanOfAttempt(ref));
  EXPECT_EQ(trial.parent, "");
  EXPECT_EQ(trial.begin, created);
  EXPECT_EQ(trial.end, created + 5'000'000);
  EXPECT_EQ(trial.error, "");
  const spans::Span attempt = kept_.Newest("attempt");
  EXPECT_EQ(attempt.context.span_id, proto::TraceOfAttempt(ref).span_id);
  EXPECT_EQ(attempt.parent, trial.context.span_id);
  EXPECT_EQ(kept_.Newest("queued").parent, trial.context.span_id);
}

TEST_F(AttemptSpansTest, ASecondAttemptLinksToTheFirst) {
  const v1::Lease first = driver_->AcquireOne("w1", "boot-1");
  LoseIt();
  EXPECT_EQ(kept_.Newest("attempt").context.span_id,
            proto::TraceOfAttempt(Driver::RefOf(first)).span_id);
  EXPECT_EQ(kept_.Newest("trial").error, "");  // it runs again
  const WallMicros lost = kept_.Newest("attempt").end;

  const v1::Lease second = driver_->AcquireOne("w2", "boot-1");
  const WallMicros begun = clock_.Wall();
  ASSERT_EQ(second.trial(), first.trial());
  ASSERT_OK(driver_->Finish(second, 0.5));
  Settle();
  const spans::Span trial = kept_.Newest("trial");
  EXPECT_NE(trial.context.trace_id,
            proto::TraceOfAttempt(Driver::RefOf(first)).trace_id);
  ASSERT_EQ(trial.links.size(), 1u);
  EXPECT_EQ(trial.links[0].span_id,
            proto::RootSpanOfAttempt(Driver::RefOf(first)));
  EXPECT_EQ(trial.begin, lost);
  EXPECT_EQ(kept_.Newest("queued").end, begun);
}

TEST_F(AttemptSpansTest, ACoordinatorThatCameSinceSaysWhatItSaw) {
  (void)driver_->AcquireOne("w1", "boot-1");
  LoseIt();
  Restart();
  const v1::Lease second = driver_->AcquireOne("w2", "boot-1");
  ASSERT_EQ(second.attempt(), 2);
  const std::size_t before = kept_.size();
  ASSERT_OK(driver_->Finish(second, 0.5));
  Settle();
  EXPECT_EQ(kept_.size(), before + 2);  // it does not know since when it waited
  EXPECT_EQ(kept_.Newest("trial").begin, kept_.Newest("attempt").begin);
}

TEST_F(AttemptSpansTest, ALostOneThatGoesOnIsNotItsOwnSuccessor) {
  const v1::Lease lease = driver_->AcquireOne("w1", "boot-1");
  const WallMicros begun = clock_.Wall();
  LoseIt();
  ASSERT_OK(driver_->Heartbeat("w1", "boot-1", lease));
  ASSERT_OK(driver_->Finish(lease, 0.5));
  Settle();
  const spans::Span trial = kept_.Newest("trial");
  EXPECT_TRUE(trial.links.empty());
  EXPECT_LE(trial.begin, begun);
  EXPECT_LE(kept_.Newest("queued").end, begun);
}

TEST_F(AttemptSpansTest, AnswersThatCameTwiceAreToldOnce) {
  const v1::Lease lease = driver_->AcquireOne("w1", "boot-1");
  ASSERT_OK(driver_->Finish(lease, 0.5));
  Settle();
  const std::size_t before = kept_.size();
  ASSERT_OK(driver_->Finish(lease, 0.5));
  Settle();
  EXPECT_EQ(kept_.size(), before);
}

}  // namespace
}  // namespace frostline::server
