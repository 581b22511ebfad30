// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/trial_store_contract.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "base/error.h"

namespace frostline::test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// The fixture's small language, and the promises of transactions.

void TrialStoreContract::SetUp() {
  ASSERT_OK_AND_ASSIGN(store_, GetParam().open(folder_.File("data")));
}

absl::Status TrialStoreContract::WriteIn(storage::Epoch epoch) {
  ASSIGN_OR_RETURN(const auto transaction, store_->Begin(epoch));
  RETURN_IF_ERROR(transaction->PutWorker(FullWorker("w")));
  return transaction->Commit();
}

storage::StudyKey TrialStoreContract::AddStudy(const std::string& id) {
  storage::StudyKey key = 0;
  EXPECT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(key, transaction.InsertStudy(FullStudy(id)));
    return absl::OkStatus();
  }));
  return key;
}

void TrialStoreContract::AddTrial(const storage::TrialRow& trial) {
  EXPECT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.InsertTrial(trial);
  }));
}

storage::TrialRow TrialStoreContract::Trial(storage::StudyKey study,
                                            std::int64_t number) {
  const absl::StatusOr<storage::TrialRow> found =
      store_->FindTrial(study, number);
  EXPECT_OK(found);
  return found.ok() ? *found : storage::TrialRow();
}

std::vector<std::int64_t> TrialStoreContract::Numbers(
    const storage::TrialQuery& query) {
  const auto rows = store_->ListTrials(query);
  EXPECT_OK(rows);
  std::vector<std::int64_t> numbers;
  if (!rows.ok()) return numbers;
  for (const storage::TrialRow& row : *rows) numbers.push_back(row.number);
  return numbers;
}

TEST_P(TrialStoreContract, NothingIsVisibleBeforeTheCommit) {
  ASSERT_OK_AND_ASSIGN(auto transaction, Begin(*store_));
  ASSERT_OK(transaction->InsertStudy(FullStudy("imdb")));
  ASSERT_OK(transaction->PutWorker(FullWorker("w")));
  EXPECT_THAT(store_->FindStudy("imdb"), FailsWith(ErrorId::kStudyNotFound));
  EXPECT_THAT(*store_->ListWorkers("", 10), IsEmpty());
  ASSERT_OK(transaction->Commit());
  EXPECT_OK(store_->FindStudy("imdb"));
  EXPECT_THAT(*store_->ListWorkers("", 10), SizeIs(1));
}

TEST_P(TrialStoreContract, ATransactionThatIsDroppedIsUndone) {
  ASSERT_OK_AND_ASSIGN(auto transaction, Begin(*store_));
  ASSERT_OK(transaction->InsertStudy(FullStudy("imdb")));
  transaction.reset();
  EXPECT_THAT(store_->FindStudy("imdb"), FailsWith(ErrorId::kStudyNotFound));
  AddStudy("imdb");  // the next one can begin
}

TEST_P(TrialStoreContract, AFailedOperationLeavesItsNeighboursAlone) {
  const storage::StudyKey study = AddStudy("imdb");
  ASSERT_OK_AND_ASSIGN(auto transaction, Begin(*store_));
  const auto insert = [&](std::int64_t number) {
    return transaction->InsertTrial(FullTrial(study, number));
  };
  EXPECT_OK(transaction->Operation([&] { return insert(0); }));
  EXPECT_THAT(transaction->Operation([&]() -> absl::Status {
    RETURN_IF_ERROR(insert(1));
    RETURN_IF_ERROR(transaction->PutWorker(FullWorker("w")));
    return insert(0);
  }),
              FailsWith(ErrorId::kInternal));
  EXPECT_OK(transaction->Operation([&] { return insert(2); }));
  ASSERT_OK(transaction->Commit());
  EXPECT_THAT(Numbers(TrialsOf(study)), ElementsAre(0, 2));
  EXPECT_THAT(*store_->ListWorkers("", 10), IsEmpty());
}

TEST_P(TrialStoreContract, AnErrorOfTheCallerUndoesItsOperationToo) {
  ASSERT_OK_AND_ASSIGN(auto transaction, Begin(*store_));
  const absl::Status refused = transaction->Operation([&]() -> absl::Status {
    RETURN_IF_ERROR(transaction->PutWorker(FullWorker("w")));
    return absl::AbortedError("second thoughts");
  });
  EXPECT_EQ(refused, absl::AbortedError("second thoughts"));
  ASSERT_OK(transaction->Commit());
  EXPECT_THAT(*store_->ListWorkers("", 10), IsEmpty());
}

TEST_P(TrialStoreContract, ATransactionSeesWhatItWrote) {
  const auto update = [&](int times) {
    return Write([&](storage::Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(const storage::StudyKey study,
                       transaction.InsertStudy(FullStudy("imdb")));
      storage::TrialRow trial = FullTrial(study, 0);
      RETURN_IF_ERROR(transaction.InsertTrial(trial));
      const storage::TrialGuard guard = GuardOf(trial);
      trial.state = TrialState::kSucceeded;
      for (int i = 0; i < times; ++i) {
        RETURN_IF_ERROR(transaction.UpdateTrial(trial, guard));
      }
      return absl::OkStatus();
    });
  };
  EXPECT_THAT(update(2), FailsWith(ErrorId::kLeaseLost));
  EXPECT_OK(update(1));
}

TEST_P(TrialStoreContract, ATransactionIsOverAfterItsCommit) {
  ASSERT_OK_AND_ASSIGN(auto transaction, Begin(*store_));
  ASSERT_OK(transaction->Commit());
  EXPECT_THAT(transaction->PutWorker(FullWorker("w")),
              FailsWith(ErrorId::kInternal));
  EXPECT_THAT(transaction->AddMeasurements({}), FailsWith(ErrorId::kInternal));
  EXPECT_THAT(transaction->Operation([] { return absl::OkStatus(); }),
              FailsWith(ErrorId::kInternal));
  EXPECT_THAT(transaction->Commit(), FailsWith(ErrorId::kInternal));
  EXPECT_OK(Begin(*store_));  // although the first object is still there
}

TEST_P(TrialStoreContract, SaysHowMuchRoomItHas) {
  EXPECT_GT(store_->RoomLeft().free_bytes, 0);
}

TEST_P(TrialStoreContract, ABackupIsAFileOrATypedError) {
  AddStudy("imdb");
  const std::string path = folder_.File("copy");
  const auto report = store_->Backup(path);
  EXPECT_EQ(std::filesystem::exists(path), report.ok());
  if (report.ok()) {
    EXPECT_EQ(report->path, path);
    EXPECT_EQ(report->studies, 1);
  } else {
    EXPECT_THAT(report, FailsWith(ErrorId::kMethodNotBuilt));
  }
}

TEST_P(TrialStoreContract, SaysWhatItIs) {
  EXPECT_THAT(store_->Describe(), testing::StartsWith(GetParam().name));
}

// The promises about leading: of several coordinators on one store one writes.

TEST_P(TrialStoreContract, NobodyLeadsANewStore) {
  ASSERT_OK_AND_ASSIGN(const storage::Epoch nobodys, store_->FindLead());
  EXPECT_EQ(nobodys, 0);
  for (const storage::Epoch epoch : {-1, 0, 1}) {
    EXPECT_THAT(WriteIn(epoch), FailsWith(ErrorId::kNotLeader));
  }
  ASSERT_OK_AND_ASSIGN(const storage::Epoch first, store_->TakeLead());
  EXPECT_EQ(first, 1);
  EXPECT_OK(WriteIn(first));
}

TEST_P(TrialStoreContract, AStartIsToldOfThoseBefore) {
  EXPECT_THAT(store_->NoteStart(10), testing::ElementsAre());
  EXPECT_THAT(store_->NoteStart(20), testing::ElementsAre(10));
  EXPECT_THAT(store_->NoteStart(15), testing::ElementsAre(10, 20));
}

TEST_P(TrialStoreContract, ALeaseKeyIsLongAndStaysTheSame) {
  ASSERT_OK_AND_ASSIGN(const SecretString key, store_->LeaseKey());
  EXPECT_GE(key.Reveal().size(), 64u);
  EXPECT_TRUE(*store_->LeaseKey() == key);
}

TEST_P(TrialStoreContract, AStoreThatIsTendedKeepsItsRows) {
  AddStudy("a");
  while (true) {
    ASSERT_OK_AND_ASSIGN(const bool more, store_->Tend());
    if (!more) break;
  }
  EXPECT_EQ(store_->ListStudies({})->size(), 1u);
  AddStudy("b");
}

TEST_P(TrialStoreContract, OnlyWhoTookTheLeadLastWrites) {
  ASSERT_OK_AND_ASSIGN(const storage::Epoch old, store_->TakeLead());
  AddStudy("before");
  ASSERT_OK_AND_ASSIGN(const storage::Epoch current, store_->TakeLead());
  EXPECT_GT(current, old);
  EXPECT_EQ(*store_->FindLead(), current);
  for (const storage::Epoch epoch : {storage::Epoch{0}, old, current + 1}) {
    EXPECT_THAT(WriteIn(epoch), FailsWith(ErrorId::kNotLeader));
  }
  AddStudy("after");  // who was refused stands in nobody's way
  EXPECT_EQ(store_->ListStudies({})->size(), 2u);
}

TEST_P(TrialStoreContract, AnEpochIsGivenOnce) {
  std::vector<std::vector<storage::Epoch>> taken(3);
  std::vector<std::thread> coordinators;
  for (std::vector<storage::Epoch>& epochs : taken) {
    coordinators.emplace_back([this, &epochs] {
      for (int i = 0; i < 10; ++i) epochs.push_back(*store_->TakeLead());
    });
  }
  for (std::thread& coordinator : coordinators) coordinator.join();
  std::set<storage::Epoch> all;
  for (const auto& epochs : taken) all.insert(epochs.begin(), epochs.end());
  EXPECT_EQ(all.size(), 30u);
  EXPECT_EQ(*all.rbegin(), *store_->FindLead());
}

TEST_P(TrialStoreContract, TheLeadIsNotTakenFromUnderATransaction) {
  ASSERT_OK_AND_ASSIGN(const storage::Epoch epoch, store_->TakeLead());
  ASSERT_OK_AND_ASSIGN(auto transaction, store_->Begin(epoch));
  std::atomic<bool> taken = false;
  std::thread other([&] {
    EXPECT_OK(store_->TakeLead());
    taken = true;
  });
  ASSERT_OK(transaction->InsertStudy(FullStudy("imdb")));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(taken);
  EXPECT_OK(transaction->Commit());
  other.join();
  EXPECT_OK(store_->FindStudy("imdb"));
  EXPECT_THAT(WriteIn(epoch), FailsWith(ErrorId::kNotLeader));
}

namespace {

// The promises that need several threads.

constexpr int kTrialsEach = 5;
constexpr int kRounds = 300;

// Every transaction gives all trials the next priority, so a reader that sees
// two different ones has seen half a transaction.
absl::Status RaisePriority(storage::TrialStore& store, storage::StudyKey study,
                           int priority) {
  return Write(store, [&](storage::Transaction& transaction) -> absl::Status {
    for (int i = 0; i < kTrialsEach; ++i) {
      storage::TrialRow trial = FullTrial(study, i);
      const storage::TrialGuard guard = GuardOf(trial);
      trial.priority = priority;
      trial.revision = 1000 * priority + i;
      RETURN_IF_ERROR(transaction.UpdateTrial(trial, guard));
    }
    return absl::OkStatus();
  });
}

// The priority all trials of one snapshot have; -1: they differ.
int SeenPriority(const storage::TrialStore& store,
                 const storage::TrialQuery& query) {
  const auto rows = store.ListTrials(query);
  if (!rows.ok() || rows->size() != kTrialsEach) return -1;
  for (const storage::TrialRow& row : *rows) {
    if (row.priority != rows->front().priority) return -1;
  }
  return rows->front().priority;
}

}  // namespace

TEST_P(TrialStoreContract, ReadersSeeWholeTransactionsInTheirOrder) {
  const storage::StudyKey study = AddStudy("imdb");
  for (int i = 0; i < kTrialsEach; ++i) AddTrial(FullTrial(study, i));
  ASSERT_OK(RaisePriority(*store_, study, 0));
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  std::atomic<int> backwards = 0;
  std::atomic<int> reads = 0;
  const auto read = [&](storage::TrialQuery query) {
    for (int last = 0; !done; ++reads) {
      const int seen = SeenPriority(*store_, query);
      if (seen < 0) ++torn;
      if (seen >= 0 && seen < last) ++backwards;
      last = seen;
    }
  };
  std::vector<std::thread> readers;
  storage::TrialQuery query = TrialsOf(study);
  readers.emplace_back(read, query);
  query.order = storage::TrialQuery::Order::kRevision;
  readers.emplace_back(read, query);
  query.order = storage::TrialQuery::Order::kNumber;
  query.states = {TrialState::kRunning, TrialState::kQueued};
  readers.emplace_back(read, query);
  absl::Status status;
  for (int i = 1; i <= kRounds && status.ok(); ++i) {
    status = RaisePriority(*store_, study, i);
  }
  while (status.ok() && reads < 30) std::this_thread::yield();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_OK(status);
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(backwards, 0);
}

TEST_P(TrialStoreContract, ReadersDoNotWaitForAnOpenTransaction) {
  AddStudy("imdb");
  ASSERT_OK_AND_ASSIGN(auto transaction, Begin(*store_));
  ASSERT_OK(transaction->InsertStudy(FullStudy("other")));
  std::thread([this] {  // would hang the test if it waited
    EXPECT_OK(store_->FindStudy("imdb"));
    EXPECT_EQ(store_->ListStudies({})->size(), 1u);
  })
      .join();
}

TEST_P(TrialStoreContract, WritersComeOneAfterTheOther) {
  const storage::StudyKey study = AddStudy("imdb");
  constexpr int kEach = 40;
  std::atomic<int> failures = 0;
  std::atomic<int> open = 0;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kEach; ++i) {
        auto transaction = Begin(*store_);
        if (!transaction.ok() || ++open != 1) ++failures;
        const auto inserted =
            (*transaction)->InsertTrial(FullTrial(study, writer * kEach + i));
        --open;
        if (!inserted.ok() || !(*transaction)->Commit().ok()) ++failures;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(Numbers(TrialsOf(study, 1000)).size(), 3u * kEach);
}

}  // namespace frostline::test
