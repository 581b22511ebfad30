// SPDX-License-Identifier: Apache-2.0
//
// The promises about trials: the fence above all.
#include <algorithm>

#include "base/error.h"
#include "tests/contract/row_text.h"
#include "tests/contract/trial_store_contract.h"

namespace frostline::test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

// Another value in every field that an update may change.
storage::TrialRow Changed(const storage::TrialRow& trial) {
  storage::TrialRow row;
  row.study = trial.study;
  row.number = trial.number;
  row.state = TrialState::kSucceeded;
  row.origin = storage::TrialOrigin::kRetry;
  row.point = {9, 9};
  row.attempt = trial.attempt + 1;
  row.secret = SecretString("new secret");
  row.revision = trial.revision + 1000;
  row.created = 99;
  return row;
}

}  // namespace

TEST_P(TrialStoreContract, ATrialComesBackWholeToTheLastBit) {
  const storage::TrialRow trial = FullTrial(AddStudy("imdb"), 4);
  AddTrial(trial);
  EXPECT_EQ(Text(Trial(trial.study, 4)), Text(trial));
  EXPECT_THAT(store_->FindTrial(trial.study, 5),
              FailsWith(ErrorId::kTrialNotFound));
  EXPECT_THAT(store_->FindTrial(trial.study + 1, 4),
              FailsWith(ErrorId::kTrialNotFound));
}

TEST_P(TrialStoreContract, ATrialIsInsertedOnceAndIntoAStudy) {
  const storage::TrialRow trial = FullTrial(AddStudy("imdb"), 0);
  AddTrial(trial);
  EXPECT_THAT(Write([&](storage::Transaction& transaction) {
                return transaction.InsertTrial(Changed(trial));
              }),
              FailsWith(ErrorId::kInternal));
  EXPECT_THAT(Write([&](storage::Transaction& transaction) {
                return transaction.InsertTrial(FullTrial(trial.study + 1, 0));
              }),
              FailsWith(ErrorId::kInternal));
  EXPECT_EQ(Text(Trial(trial.study, 0)), Text(trial));
}

TEST_P(TrialStoreContract, AnUpdateReplacesAllButWhatNeverChanges) {
  const storage::TrialRow before = FullTrial(AddStudy("imdb"), 0);
  AddTrial(before);
  storage::TrialRow after = Changed(before);
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.UpdateTrial(after, GuardOf(before));
  }));
  after.origin = before.origin;
  after.point = before.point;
  after.created = before.created;
  EXPECT_EQ(Text(Trial(before.study, 0)), Text(after));
}

TEST_P(TrialStoreContract, EachPartOfTheGuardAloneStopsAnUpdate) {
  const storage::TrialRow trial = FullTrial(AddStudy("imdb"), 0);
  AddTrial(trial);
  storage::TrialGuard wrong_state = GuardOf(trial);
  wrong_state.state = TrialState::kQueued;
  storage::TrialGuard wrong_attempt = GuardOf(trial);
  wrong_attempt.attempt -= 1;
  storage::TrialGuard wrong_secret = GuardOf(trial);
  wrong_secret.secret = SecretString("secret 1");
  storage::TrialGuard empty_secret = GuardOf(trial);
  empty_secret.secret = SecretString();
  for (const storage::TrialGuard& guard :
       {wrong_state, wrong_attempt, wrong_secret, empty_secret}) {
    EXPECT_THAT(Write([&](storage::Transaction& transaction) {
                  return transaction.UpdateTrial(Changed(trial), guard);
                }),
                FailsWith(ErrorId::kLeaseLost));
  }
  EXPECT_EQ(Text(Trial(trial.study, 0)), Text(trial));
}

TEST_P(TrialStoreContract, WithoutASecretInTheGuardNoneIsAsked) {
  const storage::TrialRow trial = FullTrial(AddStudy("imdb"), 0);
  AddTrial(trial);
  storage::TrialGuard guard = GuardOf(trial);
  guard.secret.reset();
  EXPECT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.UpdateTrial(Changed(trial), guard);
  }));
}

TEST_P(TrialStoreContract, AnUpdateOfNoTrialSaysSo) {
  const storage::TrialRow trial = FullTrial(AddStudy("imdb"), 0);
  EXPECT_THAT(Write([&](storage::Transaction& transaction) {
                return transaction.UpdateTrial(trial, GuardOf(trial));
              }),
              FailsWith(ErrorId::kTrialNotFound));
}

TEST_P(TrialStoreContract, PagesByNumberHoldEveryTrialOnce) {
  const storage::StudyKey study = AddStudy("imdb");
  const storage::StudyKey other = AddStudy("other");
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (std::int64_t i = 0; i < 2500; ++i) {
      // Not in the order of their numbers.
      RETURN_IF_ERROR(
          transaction.InsertTrial(FullTrial(study, i % 2 == 0 ? i : 2500 - i)));
    }
    return transaction.InsertTrial(FullTrial(other, 7));
  }));
  storage::TrialQuery query = TrialsOf(study, 999);
  std::vector<std::int64_t> seen;
  while (true) {
    const std::vector<std::int64_t> page = Numbers(query);
    seen.insert(seen.end(), page.begin(), page.end());
    if (page.size() < 999) break;
    query.after = page.back();
  }
  ASSERT_THAT(seen, SizeIs(2500));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], static_cast<std::int64_t>(i));
  }
}

TEST_P(TrialStoreContract, PagesByRevisionShowChangesInTheirOrder) {
  const storage::StudyKey study = AddStudy("imdb");
  constexpr std::int64_t kTrials = 1500;
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (std::int64_t i = 0; i < kTrials; ++i) {
      RETURN_IF_ERROR(transaction.InsertTrial(FullTrial(study, i)));
    }
    storage::TrialRow trial = FullTrial(study, 0);  // moves to the end
    const storage::TrialGuard guard = GuardOf(trial);
    trial.revision = 100 + kTrials;
    return transaction.UpdateTrial(trial, guard);
  }));
  storage::TrialQuery query = TrialsOf(study, 2);
  query.order = storage::TrialQuery::Order::kRevision;
  query.after = 100 + 700;
  EXPECT_THAT(Numbers(query), ElementsAre(701, 702));
  query.after = 100 + kTrials - 2;
  query.limit = 10;
  EXPECT_THAT(Numbers(query), ElementsAre(kTrials - 1, 0));
  query.after = 100 + kTrials;
  EXPECT_THAT(Numbers(query), IsEmpty());
  query.after = -1;
  query.limit = kTrials + 1;
  EXPECT_THAT(Numbers(query), SizeIs(kTrials));
}

TEST_P(TrialStoreContract, StatesChooseTrialsInEitherOrder) {
  const storage::StudyKey study = AddStudy("imdb");
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (int i = 0; i < 14; ++i) {
      storage::TrialRow trial = FullTrial(study, i);
      trial.state = static_cast<TrialState>(1 + i % 7);
      trial.revision = 1000 - i;
      RETURN_IF_ERROR(transaction.InsertTrial(trial));
    }
    return absl::OkStatus();
  }));
  storage::TrialQuery query = TrialsOf(study);
  query.states = {TrialState::kRunning};
  EXPECT_THAT(Numbers(query), ElementsAre(1, 8));
  query.states = {TrialState::kCancelled, TrialState::kQueued,
                  TrialState::kQueued};
  EXPECT_THAT(Numbers(query), ElementsAre(0, 6, 7, 13));
  query.limit = 2;
  query.after = 0;
  EXPECT_THAT(Numbers(query), ElementsAre(6, 7));
  query.order = storage::TrialQuery::Order::kRevision;
  EXPECT_THAT(Numbers(query), ElementsAre(13, 7));
  query.limit = 0;
  EXPECT_THAT(Numbers(query), IsEmpty());
}

TEST_P(TrialStoreContract, AChangeOfStateMovesATrialBetweenLists) {
  storage::TrialRow trial = FullTrial(AddStudy("imdb"), 0);
  AddTrial(trial);
  const storage::TrialGuard guard = GuardOf(trial);
  trial.state = TrialState::kPruned;
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.UpdateTrial(trial, guard);
  }));
  storage::TrialQuery query = TrialsOf(trial.study);
  query.states = {guard.state};
  EXPECT_THAT(Numbers(query), IsEmpty());
  query.states = {trial.state};
  EXPECT_THAT(Numbers(query), ElementsAre(0));
}

}  // namespace frostline::test
