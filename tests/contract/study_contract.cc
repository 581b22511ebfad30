// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/error.h"
#include "tests/contract/row_text.h"
#include "tests/contract/trial_store_contract.h"

namespace frostline::test {

using testing::ElementsAre;
using testing::IsEmpty;

namespace {

std::vector<std::string> Ids(const std::vector<storage::StudyRow>& rows) {
  std::vector<std::string> ids;
  for (const storage::StudyRow& row : rows) ids.push_back(row.id);
  return ids;
}

absl::Status SetState(storage::TrialStore& store, const std::string& id,
                      storage::StudyState state) {
  ASSIGN_OR_RETURN(storage::StudyRow row, store.FindStudy(id));
  row.state = state;
  return Write(store, [&](storage::Transaction& transaction) {
    return transaction.UpdateStudy(row, row.etag);
  });
}

}  // namespace

using testing::SizeIs;

TEST_P(TrialStoreContract, AStudyComesBackWhole) {
  storage::StudyRow study = FullStudy("imdb");
  study.key = AddStudy("imdb");
  EXPECT_GE(study.key, 1);
  ASSERT_OK_AND_ASSIGN(const storage::StudyRow found,
                       store_->FindStudy("imdb"));
  EXPECT_EQ(Text(found), Text(study));
}

TEST_P(TrialStoreContract, TwoLiveStudiesCannotShareAnId) {
  AddStudy("imdb");
  EXPECT_THAT(Write([](storage::Transaction& transaction) {
                return transaction.InsertStudy(FullStudy("imdb")).status();
              }),
              FailsWith(ErrorId::kStudyAlreadyExists));
  EXPECT_THAT(
      Write([](storage::Transaction& transaction) -> absl::Status {
        RETURN_IF_ERROR(transaction.InsertStudy(FullStudy("twice")).status());
        return transaction.InsertStudy(FullStudy("twice")).status();
      }),
      FailsWith(ErrorId::kStudyAlreadyExists));
  EXPECT_THAT(store_->FindStudy("twice"), FailsWith(ErrorId::kStudyNotFound));
}

TEST_P(TrialStoreContract, TheIdOfADeletedStudyIsFree) {
  const storage::StudyKey first = AddStudy("imdb");
  ASSERT_OK(SetState(*store_, "imdb", storage::StudyState::kDeleted));
  EXPECT_THAT(store_->FindStudy("imdb"), FailsWith(ErrorId::kStudyNotFound));
  const storage::StudyKey second = AddStudy("imdb");
  EXPECT_NE(first, second);
  ASSERT_OK_AND_ASSIGN(const storage::StudyRow found,
                       store_->FindStudy("imdb"));
  EXPECT_EQ(found.key, second);
}

TEST_P(TrialStoreContract, ADeletedStudyCannotComeBackOverALiveOne) {
  const storage::StudyKey first = AddStudy("imdb");
  ASSERT_OK(SetState(*store_, "imdb", storage::StudyState::kDeleted));
  AddStudy("imdb");
  storage::StudyRow row = FullStudy("imdb");
  row.key = first;
  EXPECT_THAT(Write([&](storage::Transaction& transaction) {
                return transaction.UpdateStudy(row, row.etag);
              }),
              FailsWith(ErrorId::kStudyAlreadyExists));
}

TEST_P(TrialStoreContract, AnUpdateOfAStudyKeepsWhatNeverChanges) {
  storage::StudyRow before = FullStudy("imdb");
  before.key = AddStudy("imdb");
  storage::StudyRow after{.key = before.key,
                          .id = "other",
                          .state = storage::StudyState::kCompleted,
                          .spec = "other",
                          .settings = "new",
                          .seed = 1,
                          .etag = 70,
                          .revision = 80,
                          .created = 90,
                          .updated = 100,
                          .expires = 110,
                          .state_reason = "done",
                          .owner = "eve"};
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.UpdateStudy(after, before.etag);
  }));
  after.id = before.id;
  after.spec = before.spec;
  after.seed = before.seed;
  after.created = before.created;
  after.owner = before.owner;
  ASSERT_OK_AND_ASSIGN(const storage::StudyRow found,
                       store_->FindStudy("imdb"));
  EXPECT_EQ(Text(found), Text(after));
}

TEST_P(TrialStoreContract, AnUpdateWithAnOldEtagChangesNothing) {
  storage::StudyRow row = FullStudy("imdb");
  row.key = AddStudy("imdb");
  const std::string before = Text(row);
  row.settings = "new";
  EXPECT_THAT(Write([&](storage::Transaction& transaction) {
                return transaction.UpdateStudy(row, row.etag - 1);
              }),
              FailsAt(ErrorId::kEtagMismatch, "etag"));
  EXPECT_EQ(Text(*store_->FindStudy("imdb")), before);
  row.key += 1;
  EXPECT_THAT(Write([&](storage::Transaction& transaction) {
                return transaction.UpdateStudy(row, row.etag);
              }),
              FailsWith(ErrorId::kStudyNotFound));
}

TEST_P(TrialStoreContract, StudiesAreListedByKeyInPages) {
  for (const char* const id : {"c", "a", "b", "d"}) AddStudy(id);
  ASSERT_OK(SetState(*store_, "a", storage::StudyState::kDeleted));
  ASSERT_OK_AND_ASSIGN(const auto page, store_->ListStudies({.limit = 2}));
  EXPECT_THAT(Ids(page), ElementsAre("c", "b"));
  EXPECT_THAT(Ids(*store_->ListStudies({.after = page.back().key})),
              ElementsAre("d"));
  EXPECT_THAT(Ids(*store_->ListStudies({.with_deleted = true})),
              ElementsAre("c", "a", "b", "d"));
  EXPECT_THAT(*store_->ListStudies({.limit = 0}), IsEmpty());
  EXPECT_THAT(*store_->ListStudies({.limit = -1}), IsEmpty());
}

TEST_P(TrialStoreContract, PurgingAStudyTakesAllThatBelongsToIt) {
  const storage::StudyKey gone = AddStudy("gone");
  const storage::StudyKey kept = AddStudy("kept");
  for (const storage::StudyKey study : {gone, kept}) {
    ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
      RETURN_IF_ERROR(transaction.InsertTrial(FullTrial(study, 0)));
      RETURN_IF_ERROR(transaction.PutAttempt(FullAttempt(study, 0, 1)));
      RETURN_IF_ERROR(transaction.PutOutcome(FullOutcome(study, 0)));
      RETURN_IF_ERROR(transaction.PutLog(FullLog(study, 0, 1)));
      return transaction.AddMeasurements({FullMeasurement(study, 0, 1, 5)});
    }));
  }
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.PurgeStudy(gone, 1000).status();
  }));
  EXPECT_THAT(store_->FindStudy("gone"), FailsWith(ErrorId::kStudyNotFound));
  for (const auto& [study, count] :
       {std::pair(gone, 0u), std::pair(kept, 1u)}) {
    EXPECT_EQ(store_->ListTrials(TrialsOf(study))->size(), count);
    EXPECT_EQ(store_->ListAttempts(study, 0)->size(), count);
    EXPECT_EQ(store_->ListMeasurements({.study = study, .attempt = 1})->size(),
              count);
    EXPECT_EQ(store_->FindOutcome(study, 0)->has_value(), count == 1);
    EXPECT_EQ(store_->FindLog(study, 0, 1)->has_value(), count == 1);
  }
  EXPECT_THAT(Write([&](storage::Transaction& transaction) {
                return transaction.PurgeStudy(gone, 1000).status();
              }),
              FailsWith(ErrorId::kStudyNotFound));
}

// Counts what is left of a study of eleven rows in a slice after the other.
TEST_P(TrialStoreContract, APurgeTakesAFewRowsATransaction) {
  constexpr std::int64_t kMost = 3;
  storage::StudyRow row = FullStudy("gone");
  row.state = storage::StudyState::kDeleted;
  const storage::StudyKey kept = AddStudy("kept");
  storage::StudyKey gone = 0;
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(gone, transaction.InsertStudy(row));
    for (const storage::StudyKey study : {gone, kept}) {
      RETURN_IF_ERROR(transaction.PutSummary(FullSummary(study)));
      RETURN_IF_ERROR(transaction.InsertTrial(FullTrial(study, 0)));
      RETURN_IF_ERROR(transaction.PutAttempt(FullAttempt(study, 0, 1)));
      RETURN_IF_ERROR(transaction.PutOutcome(FullOutcome(study, 0)));
      RETURN_IF_ERROR(transaction.PutLog(FullLog(study, 0, 1)));
      RETURN_IF_ERROR(transaction.PutBest(FullBest(study, 0)));
      for (const std::int64_t step : {5, 6, 7, 8}) {
        RETURN_IF_ERROR(
            transaction.AddMeasurements({FullMeasurement(study, 0, 1, step)}));
      }
    }
    return absl::OkStatus();
  }));
  const auto count = [&](storage::StudyKey study) {
    const auto summaries = *store_->ListSummaries(study - 1, 1);
    const bool has_summary =
        !summaries.empty() && summaries.front().study == study;
    const auto studies =
        *store_->ListStudies({.with_deleted = true, .after = study - 1});
    const bool has_row = !studies.empty() && studies.front().key == study;
    return static_cast<std::int64_t>(
        store_->ListTrials(TrialsOf(study))->size() +
        store_->ListAttempts(study, 0)->size() +
        store_->ListMeasurements({.study = study, .attempt = 1})->size() +
        store_->ListBest(study, -1, 10)->size() +
        static_cast<std::size_t>(store_->FindOutcome(study, 0)->has_value()) +
        static_cast<std::size_t>(store_->FindLog(study, 0, 1)->has_value()) +
        static_cast<std::size_t>(has_summary) +
        static_cast<std::size_t>(has_row));
  };
  std::int64_t left = 11;
  ASSERT_EQ(count(gone), left);
  for (bool some_left = true; some_left;) {
    ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(some_left, transaction.PurgeStudy(gone, kMost));
      return absl::OkStatus();
    }));
    left = std::max<std::int64_t>(0, left - kMost);
    ASSERT_EQ(count(gone), left);
    ASSERT_EQ(some_left, left > 0);
    EXPECT_THAT(store_->FindStudy("gone"), FailsWith(ErrorId::kStudyNotFound));
    EXPECT_EQ(count(kept), 11);
  }
}

TEST_P(TrialStoreContract, AKeyIsNeverGivenTwice) {
  const storage::StudyKey first = AddStudy("imdb");
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.PurgeStudy(first, 1000).status();
  }));
  EXPECT_GT(AddStudy("imdb"), first);
}

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
