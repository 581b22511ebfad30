// SPDX-License-Identifier: Apache-2.0
//
// The fixture's small language, and the promises of transactions.
#include "tests/contract/trial_store_contract.h"

#include <filesystem>

#include "base/error.h"

namespace frostline::test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

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

}  // namespace frostline::test
