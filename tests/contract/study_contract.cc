// SPDX-License-Identifier: Apache-2.0
//
// The promises about studies.
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

}  // namespace frostline::test
