// SPDX-License-Identifier: Apache-2.0
//
// File: ledger_fixture.h
//
// A ledger on a store in memory, driven a group at a time and without threads.
#ifndef FROSTLINE_TESTS_SERVER_LEDGER_LEDGER_FIXTURE_H_
#define FROSTLINE_TESTS_SERVER_LEDGER_LEDGER_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "gtest/gtest.h"
#include "server/ledger/ledger.h"
#include "storage/factory.h"
#include "tests/server/example_study.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {

class LedgerFixture : public ::testing::Test {
 protected:
  LedgerFixture()
      : store_(*storage::OpenStore(
            storage::StoreSpec{.data_folder = "", .ephemeral = true})),
        epoch_(*store_->TakeLead()),
        ledger_(*store_, clock_, ExampleLease(),
                {.trial_ended =
                     [this](const storage::TrialRow& row) {
                       ended_.push_back(row.number);
                     }}),
        batch_(std::make_unique<Batch>(*store_, epoch_)) {
    EXPECT_OK(ledger_.Load(Duration::zero()));
    AddWorker("w");
    book_ = AddStudy("a", 2);
  }

  void AddWorker(const std::string& id) {
    storage::WorkerRow worker;
    worker.id = id;
    worker.boot_id = "boot-1";
    ledger_.workers().Absorb(worker);
  }
  StudyBook* AddStudy(const std::string& id, std::int64_t budget) {
    storage::StudyRow row;
    row.id = id;
    row.revision = 1;
    row.spec = ExampleSpec().SerializeAsString();
    row.settings = ExampleStudy(id, budget).settings().SerializeAsString();
    return *ledger_.InsertStudy(
        *batch_, row,
        std::make_shared<const CheckedStudy>(
            *CheckStudy(ExampleSpec(), ExampleStudy(id, budget).settings(),
                        ExampleLease())));
  }
  TrialKey AddQueued() {
    storage::TrialRow row;
    row.number = book_->next_number();
    row.point = {0, 0};
    EXPECT_OK(ledger_.InsertTrial(*batch_, *book_, row));
    return {book_->row().key, row.number};
  }
  // A trial that `w` holds.
  TrialKey AddRunning() {
    const TrialKey trial = AddQueued();
    EXPECT_OK(ledger_.Apply(*batch_, *book_,
                            Grant(*book_->Find(trial.number), "w", "boot-1",
                                  SecretString("secret"), clock_.Wall())));
    ledger_.RenewLease(*book_, trial.number);
    return trial;
  }
  static v1::LeaseRef LeaseOf(TrialKey trial, std::int64_t attempt) {
    v1::LeaseRef lease;
    lease.set_trial(TrialNameOf("a", trial.number));
    lease.set_attempt(attempt);
    lease.set_secret("secret");
    return lease;
  }
  // The group is on disk, and the next begins.
  void Commit() {
    ledger_.WriteSummaries(*batch_);
    ASSERT_OK(batch_->Commit());
    ledger_.Committed();
    batch_->Settle(absl::OkStatus());
    batch_ = std::make_unique<Batch>(*store_, epoch_);
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  const storage::Epoch epoch_;
  std::vector<std::int64_t> ended_;  // numbers
  Ledger ledger_;
  std::unique_ptr<Batch> batch_;
  StudyBook* book_ = nullptr;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_LEDGER_LEDGER_FIXTURE_H_
