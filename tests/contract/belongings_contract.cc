// SPDX-License-Identifier: Apache-2.0
//
// The promises about what belongs to a trial, about workers and replies.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/contract/row_text.h"
#include "tests/contract/trial_store_contract.h"

namespace frostline::test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_P(TrialStoreContract, AttemptsAreReplacedByNumber) {
  const storage::StudyKey study = AddStudy("imdb");
  AddTrial(FullTrial(study, 0));
  AddTrial(FullTrial(study, 1));
  storage::AttemptRow second = FullAttempt(study, 0, 2);
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(transaction.PutAttempt(second));
    RETURN_IF_ERROR(transaction.PutAttempt(FullAttempt(study, 0, 1)));
    return transaction.PutAttempt(FullAttempt(study, 1, 1));
  }));
  second.state = AttemptState::kSuperseded;
  second.outcome = "late";
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.PutAttempt(second);
  }));
  EXPECT_THAT(Texts(*store_->ListAttempts(study, 0)),
              ElementsAre(Text(FullAttempt(study, 0, 1)), Text(second)));
  EXPECT_THAT(*store_->ListAttempts(study, 2), IsEmpty());
}

TEST_P(TrialStoreContract, WhatBelongsToNoTrialIsRefused) {
  const storage::StudyKey study = AddStudy("imdb");
  for (const absl::Status& status :
       {Write([&](storage::Transaction& transaction) {
          return transaction.PutAttempt(FullAttempt(study, 0, 1));
        }),
        Write([&](storage::Transaction& transaction) {
          return transaction.AddMeasurements({FullMeasurement(study, 0, 1, 1)});
        }),
        Write([&](storage::Transaction& transaction) {
          return transaction.PutOutcome(FullOutcome(study, 0));
        }),
        Write([&](storage::Transaction& transaction) {
          return transaction.PutLog(FullLog(study, 0, 1));
        }),
        Write([&](storage::Transaction& transaction) {
          return transaction.PutBest(FullBest(study, 0));
        }),
        Write([&](storage::Transaction& transaction) {
          return transaction.PutSummary(FullSummary(study + 1));
        })}) {
    EXPECT_THAT(status, FailsWith(ErrorId::kInternal));
  }
}

// A trial that was leased three times has no fourth attempt yet.
TEST_P(TrialStoreContract, WhatBelongsToAnAttemptToComeIsRefused) {
  storage::TrialRow trial = FullTrial(AddStudy("imdb"), 0);
  AddTrial(trial);
  using Put = absl::Status (*)(storage::Transaction&, storage::StudyKey,
                               std::int64_t attempt);
  const auto puts = {
      Put([](storage::Transaction& transaction, storage::StudyKey study,
             std::int64_t attempt) {
        return transaction.PutAttempt(FullAttempt(study, 0, attempt));
      }),
      Put([](storage::Transaction& transaction, storage::StudyKey study,
             std::int64_t attempt) {
        return transaction.AddMeasurements(
            {FullMeasurement(study, 0, attempt, 1)});
      }),
      Put([](storage::Transaction& transaction, storage::StudyKey study,
             std::int64_t attempt) {
        return transaction.PutLog(FullLog(study, 0, attempt));
      })};
  for (const Put& put : puts) {
    const auto at = [&](std::int64_t attempt) {
      return Write([&](storage::Transaction& transaction) {
        return put(transaction, trial.study, attempt);
      });
    };
    EXPECT_THAT(at(trial.attempt + 1), FailsWith(ErrorId::kInternal));
    EXPECT_OK(at(trial.attempt));
    EXPECT_OK(at(trial.attempt - 1));  // late, and kept
  }
  EXPECT_THAT(*store_->ListAttempts(trial.study, 0), SizeIs(2));
}

// As a grant is stored, and what it replaces.
TEST_P(TrialStoreContract, AnAttemptMayBeginInTheTransactionThatAllowsIt) {
  storage::TrialRow trial = FullTrial(AddStudy("imdb"), 0);
  AddTrial(trial);
  const storage::TrialGuard guard = GuardOf(trial);
  trial.attempt += 1;
  EXPECT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(transaction.UpdateTrial(trial, guard));
    RETURN_IF_ERROR(
        transaction.PutAttempt(FullAttempt(trial.study, 0, trial.attempt)));
    return transaction.AddMeasurements(
        {FullMeasurement(trial.study, 0, trial.attempt, 1)});
  }));
}

TEST_P(TrialStoreContract, MeasurementsAreListedByStepInPages) {
  const storage::StudyKey study = AddStudy("imdb");
  AddTrial(FullTrial(study, 0));
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.AddMeasurements(
        {FullMeasurement(study, 0, 1, 20), FullMeasurement(study, 0, 1, 0),
         FullMeasurement(study, 0, 2, 5), FullMeasurement(study, 0, 1, 10)});
  }));
  storage::MeasurementQuery query{.study = study, .attempt = 1, .limit = 2};
  EXPECT_THAT(Texts(*store_->ListMeasurements(query)),
              ElementsAre(Text(FullMeasurement(study, 0, 1, 0).measurement),
                          Text(FullMeasurement(study, 0, 1, 10).measurement)));
  query.after_step = 10;
  EXPECT_THAT(Texts(*store_->ListMeasurements(query)),
              ElementsAre(Text(FullMeasurement(study, 0, 1, 20).measurement)));
}

TEST_P(TrialStoreContract, NaNAndInfinitiesAreKept) {
  const storage::StudyKey study = AddStudy("imdb");
  AddTrial(FullTrial(study, 0));
  storage::MeasurementRow row = FullMeasurement(study, 0, 1, 1);
  row.measurement.metrics = {{"nan", kNaN},      {"-nan", -kNaN},
                             {"inf", kInfinity}, {"-inf", -kInfinity},
                             {"-0", -0.0},       {"tiny", 5e-324}};
  row.measurement.elapsed_s = kNaN;
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.AddMeasurements({row});
  }));
  EXPECT_THAT(Texts(*store_->ListMeasurements({.study = study, .attempt = 1})),
              ElementsAre(Text(row.measurement)));
}

TEST_P(TrialStoreContract, ARepeatedReportMustSayTheSame) {
  const storage::StudyKey study = AddStudy("imdb");
  AddTrial(FullTrial(study, 0));
  storage::MeasurementRow row = FullMeasurement(study, 0, 1, 1);
  row.measurement.metrics = {{"loss", kNaN}, {"zero", 0.0}};
  const auto report = [&](const Metrics& metrics) {
    storage::MeasurementRow repeated = row;
    repeated.measurement.metrics = metrics;
    repeated.measurement.elapsed_s = 77;  // of no interest here
    return Write([&](storage::Transaction& transaction) {
      return transaction.AddMeasurements(
          {repeated, FullMeasurement(study, 0, 1, 2)});
    });
  };
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.AddMeasurements({row});
  }));
  EXPECT_THAT(report({{"loss", kNaN}, {"zero", 0.5}}),
              FailsWith(ErrorId::kReportConflict));
  EXPECT_THAT(report({{"loss", kNaN}}), FailsWith(ErrorId::kReportConflict));
  EXPECT_THAT(report({{"loss", 1}, {"zero", 0}}),
              FailsWith(ErrorId::kReportConflict));
  const storage::MeasurementQuery query{.study = study, .attempt = 1};
  EXPECT_THAT(Texts(*store_->ListMeasurements(query)),
              ElementsAre(Text(row.measurement)));
  EXPECT_OK(report({{"loss", -kNaN}, {"zero", -0.0}}));
  EXPECT_THAT(Texts(*store_->ListMeasurements(query)),
              ElementsAre(Text(row.measurement),
                          Text(FullMeasurement(study, 0, 1, 2).measurement)));
}

TEST_P(TrialStoreContract, AnOutcomeIsReplaced) {
  storage::OutcomeRow row = FullOutcome(AddStudy("imdb"), 0);
  row.data = std::string(100'000, '\0');
  AddTrial(FullTrial(row.study, 0));
  EXPECT_FALSE(store_->FindOutcome(row.study, 0)->has_value());
  for (const char* const fingerprint : {"first", "second"}) {
    row.data_fingerprint = fingerprint;
    row.data.back() = fingerprint[0];
    ASSERT_OK(Write([&](storage::Transaction& transaction) {
      return transaction.PutOutcome(row);
    }));
  }
  ASSERT_OK_AND_ASSIGN(const auto found, store_->FindOutcome(row.study, 0));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(Text(*found), Text(row));
}

TEST_P(TrialStoreContract, ALogIsReplacedByAttempt) {
  storage::LogRow row = FullLog(AddStudy("imdb"), 0, 2);
  AddTrial(FullTrial(row.study, 0));
  EXPECT_FALSE(store_->FindLog(row.study, 0, 2)->has_value());
  for (const char* const tail : {"first", "out of memory"}) {
    row.tail = tail;
    ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
      RETURN_IF_ERROR(transaction.PutLog(FullLog(row.study, 0, 1)));
      return transaction.PutLog(row);
    }));
  }
  EXPECT_EQ(Text(**store_->FindLog(row.study, 0, 2)), Text(row));
  EXPECT_EQ(Text(**store_->FindLog(row.study, 0, 1)),
            Text(FullLog(row.study, 0, 1)));
  EXPECT_FALSE(store_->FindLog(row.study, 0, 3)->has_value());
}

TEST_P(TrialStoreContract, WorkersAreReplacedAndListedById) {
  storage::WorkerRow changed = FullWorker("b");
  changed.state = storage::WorkerState::kGone;
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (const char* const id : {"c", "b", "a", "Z"}) {
      RETURN_IF_ERROR(transaction.PutWorker(FullWorker(id)));
    }
    return transaction.PutWorker(changed);
  }));
  EXPECT_THAT(Texts(*store_->ListWorkers("", 2)),
              ElementsAre(Text(FullWorker("Z")), Text(FullWorker("a"))));
  EXPECT_THAT(Texts(*store_->ListWorkers("a", 10)),
              ElementsAre(Text(changed), Text(FullWorker("c"))));
  EXPECT_THAT(*store_->ListWorkers("c", 10), IsEmpty());
}

TEST_P(TrialStoreContract, TokensAreReplacedAndListedById) {
  storage::TokenRow changed = FullToken("b");
  changed.revoked = 99;
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (const char* const id : {"c", "b", "a"}) {
      RETURN_IF_ERROR(transaction.PutToken(FullToken(id)));
    }
    return transaction.PutToken(changed);
  }));
  EXPECT_THAT(Texts(*store_->ListTokens("", 2)),
              ElementsAre(Text(FullToken("a")), Text(changed)));
  EXPECT_THAT(Texts(*store_->ListTokens("b", 10)),
              ElementsAre(Text(FullToken("c"))));
  EXPECT_THAT(*store_->ListTokens("c", 10), IsEmpty());
}

TEST_P(TrialStoreContract, CertificatesAreReplacedAndListedById) {
  storage::CertificateRow changed = FullCertificate("b");
  changed.revoked = 99;
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (const char* const id : {"c", "b", "a"}) {
      RETURN_IF_ERROR(transaction.PutCertificate(FullCertificate(id)));
    }
    return transaction.PutCertificate(changed);
  }));
  EXPECT_THAT(Texts(*store_->ListCertificates("", 2)),
              ElementsAre(Text(FullCertificate("a")), Text(changed)));
  EXPECT_THAT(Texts(*store_->ListCertificates("b", 10)),
              ElementsAre(Text(FullCertificate("c"))));
}

TEST_P(TrialStoreContract, NotificationsAreListedByIdUntilTheyAreForgotten) {
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (const char* const id : {"c", "b", "a"}) {
      RETURN_IF_ERROR(transaction.PutNotification(FullNotification(id)));
    }
    return transaction.ForgetNotification("nobody");
  }));
  EXPECT_THAT(
      Texts(*store_->ListNotifications("", 2)),
      ElementsAre(Text(FullNotification("a")), Text(FullNotification("b"))));
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.ForgetNotification("b");
  }));
  EXPECT_THAT(Texts(*store_->ListNotifications("a", 10)),
              ElementsAre(Text(FullNotification("c"))));
}

TEST_P(TrialStoreContract, TheAuditIsListedInOrderAndForgottenFromItsStart) {
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (const std::int64_t first : {5, 1, 3}) {
      RETURN_IF_ERROR(transaction.PutAudit(FullAudit(first)));
    }
    return transaction.ForgetAuditBefore(3);
  }));
  EXPECT_THAT(Texts(*store_->ListAudit(0, 10)),
              ElementsAre(Text(FullAudit(3)), Text(FullAudit(5))));
  EXPECT_THAT(Texts(*store_->ListAudit(3, 1)), ElementsAre(Text(FullAudit(5))));
}

TEST_P(TrialStoreContract, AWorkerIsForgottenAndMayComeBack) {
  const auto put = [](storage::Transaction& transaction) {
    return transaction.PutWorker(FullWorker("a"));
  };
  const auto forget = [](storage::Transaction& transaction) {
    return transaction.ForgetWorker("a");
  };
  ASSERT_OK(Write(put));
  ASSERT_OK(Write(forget));
  EXPECT_THAT(*store_->ListWorkers("", 10), IsEmpty());
  EXPECT_OK(Write(forget));
  ASSERT_OK(Write(put));
  EXPECT_THAT(*store_->ListWorkers("", 10), SizeIs(1));
}

TEST_P(TrialStoreContract, WhatARequestWasGrantedIsFoundByItsId) {
  const storage::StudyKey study = AddStudy("imdb");
  storage::AttemptRow unasked = FullAttempt(study, 1, 1);
  unasked.request_id.clear();
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (const std::int64_t number : {0, 1, 2}) {
      RETURN_IF_ERROR(transaction.InsertTrial(FullTrial(study, number)));
    }
    RETURN_IF_ERROR(transaction.PutAttempt(FullAttempt(study, 2, 3)));
    RETURN_IF_ERROR(transaction.PutAttempt(unasked));
    return transaction.PutAttempt(FullAttempt(study, 0, 1));
  }));
  EXPECT_THAT(Texts(*store_->ListGranted("request")),
              ElementsAre(Text(FullAttempt(study, 0, 1)),
                          Text(FullAttempt(study, 2, 3))));
  EXPECT_THAT(*store_->ListGranted(""), IsEmpty());
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.PurgeStudy(study, 1000).status();
  }));
  EXPECT_THAT(*store_->ListGranted("request"), IsEmpty());
}

TEST_P(TrialStoreContract, ASummaryIsReplacedAndBestTrialsAreListedByNumber) {
  const storage::StudyKey study = AddStudy("imdb");
  storage::SummaryRow summary = FullSummary(study);
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(transaction.PutSummary(summary));
    for (const std::int64_t number : {2, 0, 1}) {
      RETURN_IF_ERROR(transaction.InsertTrial(FullTrial(study, number)));
      RETURN_IF_ERROR(transaction.PutBest(FullBest(study, number)));
    }
    summary.failed += 1;
    return transaction.PutSummary(summary);
  }));
  EXPECT_THAT(Texts(*store_->ListSummaries(0, 10)), ElementsAre(Text(summary)));
  EXPECT_THAT(*store_->ListSummaries(study, 10), IsEmpty());
  EXPECT_THAT(Texts(*store_->ListBest(study, 0, 1)),
              ElementsAre(Text(FullBest(study, 1))));
  EXPECT_THAT(*store_->ListBest(study, -1, 10), SizeIs(3));
  ASSERT_OK(Write([&](storage::Transaction& transaction) {
    return transaction.PurgeStudy(study, 1000).status();
  }));
  EXPECT_THAT(*store_->ListSummaries(0, 10), IsEmpty());
  EXPECT_THAT(*store_->ListBest(study, -1, 10), IsEmpty());
}

TEST_P(TrialStoreContract, AReplyIsRememberedOnceUntilForgotten) {
  storage::ReplyRow young = FullReply("young");
  young.created = 51;
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(transaction.RememberReply(FullReply("old")));
    return transaction.RememberReply(young);
  }));
  EXPECT_THAT(Write([](storage::Transaction& transaction) {
                return transaction.RememberReply(FullReply("old"));
              }),
              FailsAt(ErrorId::kRequestIdReused, "request_id"));
  EXPECT_EQ(Text(**store_->FindReply("old")), Text(FullReply("old")));
  ASSERT_OK(Write([](storage::Transaction& transaction) {
    return transaction.ForgetRepliesBefore(51, 1000).status();
  }));
  EXPECT_FALSE(store_->FindReply("old")->has_value());
  EXPECT_EQ(Text(**store_->FindReply("young")), Text(young));
  EXPECT_OK(Write([](storage::Transaction& transaction) {
    return transaction.RememberReply(FullReply("old"));
  }));
}

TEST_P(TrialStoreContract, RepliesAreForgottenAFewATransaction) {
  const auto count = [&] {
    int found = 0;
    for (int i = 0; i < 5; ++i) {
      found += store_->FindReply(std::to_string(i))->has_value() ? 1 : 0;
    }
    return found;
  };
  ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
    for (int i = 0; i < 5; ++i) {
      storage::ReplyRow row = FullReply(std::to_string(i));
      row.created = i == 0 ? 51 : 50;
      RETURN_IF_ERROR(transaction.RememberReply(row));
    }
    return absl::OkStatus();
  }));
  for (const int left : {3, 1, 1}) {
    bool some_left = false;
    ASSERT_OK(Write([&](storage::Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(some_left, transaction.ForgetRepliesBefore(51, 2));
      return absl::OkStatus();
    }));
    EXPECT_EQ(count(), left);
    EXPECT_TRUE(some_left || left == 1);
  }
  EXPECT_TRUE(store_->FindReply("0")->has_value());
}

}  // namespace frostline::test
