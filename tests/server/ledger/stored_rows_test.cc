// SPDX-License-Identifier: Apache-2.0
//
// What was written is kept in memory as long as somebody may have read the
// store before it was there.
#include "server/ledger/stored_rows.h"

#include "gtest/gtest.h"
#include "storage/factory.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

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

}  // namespace
}  // namespace frostline::server
