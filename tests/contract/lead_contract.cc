// SPDX-License-Identifier: Apache-2.0
//
// The promises about leading: of several coordinators on one store one writes.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "tests/contract/trial_store_contract.h"

namespace frostline::test {

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

}  // namespace frostline::test
