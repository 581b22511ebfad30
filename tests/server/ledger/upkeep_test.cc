// SPDX-License-Identifier: Apache-2.0
//
// Old rows go a slice at a time, in groups of their own, and calls come between
// them.
#include "server/ledger/upkeep.h"

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "gtest/gtest.h"
#include "storage/factory.h"
#include "tests/contract/forwarding_store.h"
#include "tests/contract/full_rows.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

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

}  // namespace
}  // namespace frostline::server
