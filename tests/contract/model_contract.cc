// SPDX-License-Identifier: Apache-2.0
//
// Random transactions on the store and on the naive model of it: every answer
// and, after every transaction, everything that can be read must be equal. A
// failure names its seed; FROSTLINE_MODEL_SEEDS=n runs more than the default.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/rng.h"
#include "storage/trial_store.h"
#include "tests/contract/row_text.h"
#include "tests/contract/store_model.h"
#include "tests/contract/trial_store_contract.h"

namespace frostline::test {
namespace {

constexpr int kSeeds = 200;
constexpr int kSeedsPerStore = 10;  // to open one takes longer than a walk
constexpr int kTransactions = 6;

int SeedCount() {
  int seeds = kSeeds;
  const char* const wanted = std::getenv("FROSTLINE_MODEL_SEEDS");
  if (wanted != nullptr && !absl::SimpleAtoi(wanted, &seeds)) return kSeeds;
  return seeds;
}

// Few names and numbers, so that operations meet.
class Walk {
 public:
  explicit Walk(storage::TrialStore& store) : store_(store), rng_(0) {}

  // Goes on from where the last run ended.
  void Run(std::uint64_t seed) {
    rng_ = Rng(seed);
    for (int i = 0; i < kTransactions && !testing::Test::HasFailure(); ++i) {
      RunTransaction();
      Compare();
    }
  }

 private:
  int Below(int bound) {
    return static_cast<int>(rng_.Below(static_cast<std::uint64_t>(bound)));
  }
  std::string Name() {
    return std::string(1, static_cast<char>('a' + Below(3)));
  }
  // One of the newest, and the next.
  storage::StudyKey Key() {
    return std::max<storage::StudyKey>(newest_ - 2, 1) + Below(4);
  }
  double Value() {
    static constexpr double kValues[] = {
        0.0, -0.0, 1.5, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()};
    return kValues[Below(5)];
  }
  Metrics SomeMetrics() {
    Metrics metrics;
    for (int i = Below(3); i > 0; --i) metrics[Name()] = Value();
    return metrics;
  }
  storage::StudyRow SomeStudy() {
    storage::StudyRow row = FullStudy(Name());
    row.key = Key();
    row.owner = Name();
    row.state = static_cast<storage::StudyState>(1 + Below(5));
    row.etag = Below(3);
    row.revision = Below(100);
    return row;
  }
  storage::TrialRow SomeTrial() {
    storage::TrialRow row = FullTrial(Key(), Below(4));
    row.state = static_cast<TrialState>(1 + Below(3));
    row.attempt = Below(2);
    row.secret = SecretString(Name());
    row.revision = Below(8);  // shared by trials, unlike a coordinator's
    row.point = {Value(), Value()};
    row.metrics = SomeMetrics();
    return row;
  }

  void RunTransaction() {
    auto transaction = Begin(store_);
    ASSERT_OK(transaction);
    StoreModel after = model_;
    deferred_.reset();
    for (int i = Below(8); i >= 0; --i) RunOperation(**transaction, after);
    if (Below(4) == 0) return;  // dropped
    if (deferred_.has_value()) {
      EXPECT_THAT((*transaction)->Commit(), FailsWith(*deferred_));
      return;
    }
    ASSERT_OK((*transaction)->Commit());
    model_ = std::move(after);
  }

  void RunOperation(storage::Transaction& transaction, StoreModel& after) {
    StoreModel kept = after;
    const absl::Status status = transaction.Operation([&]() -> absl::Status {
      for (int i = Below(3); i >= 0; --i) {
        RETURN_IF_ERROR(Step(transaction, kept));
      }
      return Below(6) == 0 ? absl::AbortedError("undo") : absl::OkStatus();
    });
    if (status.ok()) after = std::move(kept);
  }

  // One call on both; fails when the answers differ.
  absl::Status Step(storage::Transaction& transaction, StoreModel& model) {
    if (deferred_.has_value()) return absl::OkStatus();  // all is undone
    Answer expected;
    const absl::Status status = Call(transaction, model, expected);
    if (status.ok() && expected.has_value() &&
        storage::IsDeferrable(MakeError(*expected, "", ""))) {
      deferred_ = expected;
    } else if (expected.has_value()) {
      EXPECT_THAT(status, FailsWith(*expected));
    } else {
      EXPECT_OK(status);
    }
    return status;
  }

  absl::Status Call(storage::Transaction& transaction, StoreModel& model,
                    Answer& expected) {
    switch (Below(13)) {
      case 0:
        return InsertStudy(transaction, model, expected);
      case 1: {
        const storage::StudyRow row = SomeStudy();
        const std::int64_t etag = Below(3);
        expected = model.UpdateStudy(row, etag);
        return transaction.UpdateStudy(row, etag);
      }
      case 2: {
        const storage::StudyKey study = Below(3) == 0 ? Key() : 99;
        expected = model.PurgeStudy(study);
        return transaction.PurgeStudy(study, 1000).status();
      }
      case 3:
      case 4: {
        const storage::TrialRow row = SomeTrial();
        expected = model.InsertTrial(row);
        return transaction.InsertTrial(row);
      }
      case 5:
      case 6: {
        const storage::TrialRow row = SomeTrial();
        storage::TrialGuard guard = GuardOf(SomeTrial());
        if (Below(2) == 0) guard.secret.reset();
        expected = model.UpdateTrial(row, guard);
        return transaction.UpdateTrial(row, guard);
      }
      default:
        return CallOfOthers(transaction, model, expected);
    }
  }

  absl::Status InsertStudy(storage::Transaction& transaction, StoreModel& model,
                           Answer& expected) {
    const storage::StudyRow row = SomeStudy();
    const absl::StatusOr<storage::StudyKey> key = transaction.InsertStudy(row);
    expected = model.InsertStudy(row, key.value_or(0));
    newest_ = std::max(newest_, key.value_or(0));
    return key.status();
  }

  absl::Status CallOfOthers(storage::Transaction& transaction,
                            StoreModel& model, Answer& expected) {
    switch (Below(16)) {
      case 0: {
        storage::AttemptRow row = FullAttempt(Key(), Below(4), Below(2));
        row.cause = Name();
        row.request_id = Name();
        expected = model.PutAttempt(row);
        return transaction.PutAttempt(row);
      }
      case 1: {
        storage::MeasurementRow row =
            FullMeasurement(Key(), Below(4), Below(2), Below(3));
        row.measurement.metrics = SomeMetrics();
        expected = model.AddMeasurement(row);
        return transaction.AddMeasurements({row});
      }
      case 2: {
        storage::OutcomeRow row = FullOutcome(Key(), Below(4));
        row.data = Name();
        expected = model.PutOutcome(row);
        return transaction.PutOutcome(row);
      }
      case 3: {
        storage::WorkerRow row = FullWorker(Name());
        row.last_seen = Below(100);
        expected = model.PutWorker(row);
        return transaction.PutWorker(row);
      }
      case 4: {
        storage::ReplyRow row = FullReply(Name());
        row.created = Below(10);
        expected = model.RememberReply(row);
        return transaction.RememberReply(row);
      }
      case 5: {
        storage::LogRow row = FullLog(Key(), Below(4), Below(2));
        row.tail = Name();
        row.place = Below(2) == 0 ? "" : Name();
        expected = model.PutLog(row);
        return transaction.PutLog(row);
      }
      case 6: {
        storage::SummaryRow row = FullSummary(Key());
        row.succeeded = Below(9);
        expected = model.PutSummary(row);
        return transaction.PutSummary(row);
      }
      case 7: {
        storage::BestRow row = FullBest(Key(), Below(4));
        row.values = {Value()};
        expected = model.PutBest(row);
        return transaction.PutBest(row);
      }
      case 8: {
        const std::string id = Name();
        expected = model.ForgetWorker(id);
        return transaction.ForgetWorker(id);
      }
      case 9: {
        storage::TokenRow row = FullToken(Name());
        row.last_used = Below(100);
        expected = model.PutToken(row);
        return transaction.PutToken(row);
      }
      case 10: {
        storage::CertificateRow row = FullCertificate(Name());
        row.revoked = Below(100);
        expected = model.PutCertificate(row);
        return transaction.PutCertificate(row);
      }
      case 11: {
        const storage::AuditRow row = FullAudit(Below(10) + 1);
        expected = model.PutAudit(row);
        return transaction.PutAudit(row);
      }
      case 12: {
        const std::int64_t first = Below(10) + 1;
        expected = model.ForgetAuditBefore(first);
        return transaction.ForgetAuditBefore(first);
      }
      case 13: {
        storage::NotificationRow row = FullNotification(Name());
        row.created = Below(100);
        expected = model.PutNotification(row);
        return transaction.PutNotification(row);
      }
      case 14: {
        const std::string id = Name();
        expected = model.ForgetNotification(id);
        return transaction.ForgetNotification(id);
      }
      default: {
        const WallMicros time = Below(10);
        expected = model.ForgetRepliesBefore(time);
        return transaction.ForgetRepliesBefore(time, 1000).status();
      }
    }
  }

  void Compare() {
    const storage::StudyQuery studies{
        .with_deleted = Below(2) == 0,
        .after = std::max<storage::StudyKey>(newest_ - Below(5), 0),
        .limit = Below(5)};
    EXPECT_EQ(Texts(*store_.ListStudies(studies)), model_.Studies(studies));
    EXPECT_EQ(Texts(*store_.ListWorkers("", 10)), model_.Workers("", 10));
    EXPECT_EQ(Texts(*store_.ListWorkers("a", 1)), model_.Workers("a", 1));
    EXPECT_EQ(Texts(*store_.ListTokens("", 10)), model_.Tokens("", 10));
    EXPECT_EQ(Texts(*store_.ListTokens("a", 1)), model_.Tokens("a", 1));
    EXPECT_EQ(Texts(*store_.ListCertificates("", 10)),
              model_.Certificates("", 10));
    EXPECT_EQ(Texts(*store_.ListNotifications("", 10)),
              model_.Notifications("", 10));
    EXPECT_EQ(Texts(*store_.ListAudit(0, 10)), model_.Audit(0, 10));
    EXPECT_EQ(Texts(*store_.ListAudit(3, 2)), model_.Audit(3, 2));
    for (const char* const name : {"a", "b", "c"}) {
      const auto study = store_.FindStudy(name);
      EXPECT_EQ(study.ok() ? Text(*study) : "", model_.Study(name));
      const auto reply = store_.FindReply(name);
      EXPECT_EQ(reply->has_value() ? Text(**reply) : "", model_.Reply(name));
      EXPECT_EQ(Texts(*store_.ListGranted(name)), model_.Granted(name));
    }
    for (const int limit : {1, 10}) {
      const storage::StudyKey after = std::max<storage::StudyKey>(Key() - 2, 0);
      EXPECT_EQ(Texts(*store_.ListSummaries(after, limit)),
                model_.Summaries(after, limit));
    }
    for (const auto& [key, row] : model_.studies()) CompareStudy(key);
    CompareStudy(99);
  }

  void CompareStudy(storage::StudyKey study) {
    for (const auto order : {storage::TrialQuery::Order::kNumber,
                             storage::TrialQuery::Order::kRevision}) {
      storage::TrialQuery query = TrialsOf(study);
      query.order = order;
      EXPECT_EQ(Texts(*store_.ListTrials(query)), model_.Trials(query));
      for (int i = Below(4); i > 0; --i) {
        query.states.push_back(static_cast<TrialState>(1 + Below(3)));
      }
      query.after = Below(5) - 1;
      query.limit = Below(4);
      EXPECT_EQ(Texts(*store_.ListTrials(query)), model_.Trials(query));
    }
    for (const int limit : {1, 10}) {
      const std::int64_t after = Below(4) - 1;
      EXPECT_EQ(Texts(*store_.ListBest(study, after, limit)),
                model_.Best(study, after, limit));
    }
    for (int number = 0; number < 4; ++number) {
      EXPECT_EQ(Texts(*store_.ListAttempts(study, number)),
                model_.Attempts(study, number));
      const storage::MeasurementQuery query{.study = study,
                                            .number = number,
                                            .attempt = Below(2),
                                            .after_step = Below(3) - 1,
                                            .limit = Below(4)};
      EXPECT_EQ(Texts(*store_.ListMeasurements(query)),
                model_.Measurements(query));
      const auto outcome = store_.FindOutcome(study, number);
      EXPECT_EQ(outcome->has_value() ? Text(**outcome) : "",
                model_.Outcome(study, number));
      const auto log = store_.FindLog(study, number, 1);
      EXPECT_EQ(log->has_value() ? Text(**log) : "",
                model_.Log(study, number, 1));
    }
  }

  storage::TrialStore& store_;
  Rng rng_;
  StoreModel model_;
  storage::StudyKey newest_ = 0;
  Answer deferred_;  // what the commit of this transaction must answer
};

}  // namespace

TEST_P(TrialStoreContract, AgreesWithTheModelOnRandomTransactions) {
  const int seeds = SeedCount();
  for (int first = 0; first < seeds && !HasFailure(); first += kSeedsPerStore) {
    const TempFolder folder;
    ASSERT_OK_AND_ASSIGN(const auto store, GetParam().open(folder.File("d")));
    Walk walk(*store);
    for (int i = 0; i < kSeedsPerStore && !HasFailure(); ++i) {
      SCOPED_TRACE(absl::StrCat("seeds ", first, " to ", first + i));
      walk.Run(static_cast<std::uint64_t>(first + i));
    }
  }
}

}  // namespace frostline::test
