// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/rng.h"
#include "storage/trial_store.h"
#include "tests/contract/row_text.h"
#include "tests/contract/trial_store_contract.h"
#include "tests/support/record.h"

namespace frostline::test {

// trial_store.h once more, so naive that it can be seen to be right: a few maps
// that are copied when something must be undone later. Reads scan everything.

// What a call answers: nothing is OK.
using Answer = std::optional<ErrorId>;

class StoreModel {
 public:
  Answer InsertStudy(storage::StudyRow row, storage::StudyKey key);
  Answer UpdateStudy(storage::StudyRow row, std::int64_t expected_etag);
  Answer PurgeStudy(storage::StudyKey study);
  Answer InsertTrial(const storage::TrialRow& row);
  Answer UpdateTrial(storage::TrialRow row, const storage::TrialGuard& guard);
  Answer PutAttempt(const storage::AttemptRow& row);
  Answer AddMeasurement(const storage::MeasurementRow& row);
  Answer PutOutcome(const storage::OutcomeRow& row);
  Answer PutLog(const storage::LogRow& row);
  Answer PutSummary(const storage::SummaryRow& row);
  Answer PutBest(const storage::BestRow& row);
  Answer ForgetWorker(const std::string& id);
  Answer PutWorker(const storage::WorkerRow& row);
  Answer PutToken(const storage::TokenRow& row);
  Answer PutCertificate(const storage::CertificateRow& row);
  Answer PutAudit(const storage::AuditRow& row);
  Answer ForgetAuditBefore(std::int64_t first);
  Answer PutNotification(const storage::NotificationRow& row);
  Answer ForgetNotification(const std::string& id);
  Answer RememberReply(const storage::ReplyRow& row);
  Answer ForgetRepliesBefore(WallMicros time);

  // What the store's reads must answer, as texts (row_text.h).
  std::vector<std::string> Studies(const storage::StudyQuery& query) const;
  std::vector<std::string> Trials(const storage::TrialQuery& query) const;
  std::vector<std::string> Attempts(storage::StudyKey study,
                                    std::int64_t number) const;
  std::vector<std::string> Granted(const std::string& request_id) const;
  std::vector<std::string> Summaries(storage::StudyKey after, int limit) const;
  std::vector<std::string> Best(storage::StudyKey study, std::int64_t after,
                                int limit) const;
  std::vector<std::string> Measurements(
      const storage::MeasurementQuery& query) const;
  std::vector<std::string> Workers(const std::string& after, int limit) const;
  std::vector<std::string> Tokens(const std::string& after, int limit) const;
  std::vector<std::string> Certificates(const std::string& after,
                                        int limit) const;
  std::vector<std::string> Audit(std::int64_t after, int limit) const;
  std::vector<std::string> Notifications(const std::string& after,
                                         int limit) const;
  std::string Study(const std::string& id) const;  // "" for none
  std::string Outcome(storage::StudyKey study, std::int64_t number) const;
  std::string Log(storage::StudyKey study, std::int64_t number,
                  std::int64_t attempt) const;
  std::string Reply(const std::string& request_id) const;

  const std::map<storage::StudyKey, storage::StudyRow>& studies() const {
    return studies_;
  }

 private:
  using TrialKey = std::tuple<storage::StudyKey, std::int64_t>;
  using AttemptKey = std::tuple<storage::StudyKey, std::int64_t, std::int64_t>;
  using StepKey =
      std::tuple<storage::StudyKey, std::int64_t, std::int64_t, std::int64_t>;

  bool IdIsTaken(const storage::StudyRow& row) const;
  bool HasHad(const TrialKey& trial, std::int64_t attempt) const;

  std::map<storage::StudyKey, storage::StudyRow> studies_;
  std::map<TrialKey, storage::TrialRow> trials_;
  std::map<AttemptKey, storage::AttemptRow> attempts_;
  std::map<StepKey, storage::MeasurementRow> measurements_;
  std::map<TrialKey, storage::OutcomeRow> outcomes_;
  std::map<AttemptKey, storage::LogRow> logs_;
  std::map<std::tuple<storage::StudyKey>, storage::SummaryRow> summaries_;
  std::map<TrialKey, storage::BestRow> best_;
  std::map<std::string, storage::WorkerRow> workers_;
  std::map<std::string, storage::TokenRow> tokens_;
  std::map<std::string, storage::CertificateRow> certificates_;
  std::map<std::int64_t, storage::AuditRow> audit_;
  std::map<std::string, storage::NotificationRow> notifications_;
  std::map<std::string, storage::ReplyRow> replies_;
};

namespace {

constexpr Answer kOk = std::nullopt;

template <typename Rows>
std::vector<std::string> FirstTexts(const Rows& rows, int limit) {
  std::vector<std::string> texts;
  for (const auto& row : rows) {
    if (static_cast<int>(texts.size()) >= limit) break;
    texts.push_back(Text(row));
  }
  return texts;
}

bool Same(const Metrics& a, const Metrics& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, value] : a) {
    if (b.count(name) == 0) return false;
    const double other = b.at(name);
    if (std::isnan(value) != std::isnan(other)) return false;
    if (!std::isnan(value) && value != other) return false;
  }
  return true;
}

}  // namespace

bool StoreModel::IdIsTaken(const storage::StudyRow& row) const {
  if (row.state == storage::StudyState::kDeleted) return false;
  return std::any_of(studies_.begin(), studies_.end(), [&](const auto& other) {
    return other.second.id == row.id && other.first != row.key &&
           other.second.state != storage::StudyState::kDeleted;
  });
}

Answer StoreModel::InsertStudy(storage::StudyRow row, storage::StudyKey key) {
  row.key = key;
  if (IdIsTaken(row)) return ErrorId::kStudyAlreadyExists;
  studies_[key] = std::move(row);
  return kOk;
}

Answer StoreModel::UpdateStudy(storage::StudyRow row,
                               std::int64_t expected_etag) {
  if (studies_.count(row.key) == 0) return ErrorId::kStudyNotFound;
  const storage::StudyRow& old = studies_.at(row.key);
  if (old.etag != expected_etag) return ErrorId::kEtagMismatch;
  row.id = old.id;
  row.spec = old.spec;
  row.seed = old.seed;
  row.created = old.created;
  row.owner = old.owner;
  if (IdIsTaken(row)) return ErrorId::kStudyAlreadyExists;
  studies_[row.key] = std::move(row);
  return kOk;
}

Answer StoreModel::PurgeStudy(storage::StudyKey study) {
  if (studies_.erase(study) == 0) return ErrorId::kStudyNotFound;
  const auto belongs = [study](const auto& entry) {
    return std::get<0>(entry.first) == study;
  };
  std::erase_if(trials_, belongs);
  std::erase_if(attempts_, belongs);
  std::erase_if(measurements_, belongs);
  std::erase_if(outcomes_, belongs);
  std::erase_if(logs_, belongs);
  std::erase_if(summaries_, belongs);
  std::erase_if(best_, belongs);
  return kOk;
}

Answer StoreModel::InsertTrial(const storage::TrialRow& row) {
  const TrialKey key{row.study, row.number};
  if (studies_.count(row.study) == 0) return ErrorId::kInternal;
  if (trials_.count(key) != 0) return ErrorId::kInternal;
  trials_[key] = row;
  return kOk;
}

Answer StoreModel::UpdateTrial(storage::TrialRow row,
                               const storage::TrialGuard& guard) {
  const TrialKey key{row.study, row.number};
  if (trials_.count(key) == 0) return ErrorId::kTrialNotFound;
  const storage::TrialRow& old = trials_.at(key);
  if (old.state != guard.state) return ErrorId::kLeaseLost;
  if (old.attempt != guard.attempt) return ErrorId::kLeaseLost;
  if (guard.secret.has_value() &&
      guard.secret->Reveal() != old.secret.Reveal()) {
    return ErrorId::kLeaseLost;
  }
  row.origin = old.origin;
  row.point = old.point;
  row.created = old.created;
  trials_[key] = std::move(row);
  return kOk;
}

bool StoreModel::HasHad(const TrialKey& trial, std::int64_t attempt) const {
  return trials_.count(trial) == 1 && trials_.at(trial).attempt >= attempt;
}

Answer StoreModel::PutAttempt(const storage::AttemptRow& row) {
  if (!HasHad({row.study, row.number}, row.attempt)) return ErrorId::kInternal;
  attempts_[{row.study, row.number, row.attempt}] = row;
  return kOk;
}

Answer StoreModel::AddMeasurement(const storage::MeasurementRow& row) {
  const StepKey key{row.study, row.number, row.attempt, row.measurement.step};
  const bool known = measurements_.count(key) == 1;
  if (!known && !HasHad({row.study, row.number}, row.attempt)) {
    return ErrorId::kInternal;
  }
  if (!known) {
    measurements_[key] = row;
    return kOk;
  }
  const Metrics& old = measurements_.at(key).measurement.metrics;
  return Same(old, row.measurement.metrics) ? kOk : ErrorId::kReportConflict;
}

Answer StoreModel::PutOutcome(const storage::OutcomeRow& row) {
  if (trials_.count({row.study, row.number}) == 0) return ErrorId::kInternal;
  outcomes_[{row.study, row.number}] = row;
  return kOk;
}

Answer StoreModel::PutLog(const storage::LogRow& row) {
  if (!HasHad({row.study, row.number}, row.attempt)) return ErrorId::kInternal;
  logs_[{row.study, row.number, row.attempt}] = row;
  return kOk;
}

Answer StoreModel::PutSummary(const storage::SummaryRow& row) {
  if (studies_.count(row.study) == 0) return ErrorId::kInternal;
  summaries_[{row.study}] = row;
  return kOk;
}

Answer StoreModel::PutBest(const storage::BestRow& row) {
  const TrialKey key{row.study, row.number};
  if (trials_.count(key) == 0) return ErrorId::kInternal;
  best_[key] = row;
  return kOk;
}

Answer StoreModel::ForgetWorker(const std::string& id) {
  workers_.erase(id);
  return kOk;
}

Answer StoreModel::PutWorker(const storage::WorkerRow& row) {
  workers_[row.id] = row;
  return kOk;
}

Answer StoreModel::PutToken(const storage::TokenRow& row) {
  tokens_[row.id] = row;
  return kOk;
}

Answer StoreModel::PutCertificate(const storage::CertificateRow& row) {
  certificates_[row.id] = row;
  return kOk;
}

Answer StoreModel::PutAudit(const storage::AuditRow& row) {
  audit_[row.first] = row;
  return kOk;
}

Answer StoreModel::PutNotification(const storage::NotificationRow& row) {
  notifications_[row.id] = row;
  return kOk;
}

Answer StoreModel::ForgetNotification(const std::string& id) {
  notifications_.erase(id);
  return kOk;
}

Answer StoreModel::ForgetAuditBefore(std::int64_t first) {
  audit_.erase(audit_.begin(), audit_.lower_bound(first));
  return kOk;
}

Answer StoreModel::RememberReply(const storage::ReplyRow& row) {
  if (replies_.count(row.request_id) != 0) return ErrorId::kRequestIdReused;
  replies_[row.request_id] = row;
  return kOk;
}

Answer StoreModel::ForgetRepliesBefore(WallMicros time) {
  std::erase_if(replies_, [time](const auto& entry) {
    return entry.second.created < time;
  });
  return kOk;
}

std::vector<std::string> StoreModel::Studies(
    const storage::StudyQuery& query) const {
  std::vector<storage::StudyRow> rows;
  for (const auto& [key, row] : studies_) {
    const bool deleted = row.state == storage::StudyState::kDeleted;
    if (key > query.after && (query.with_deleted || !deleted)) {
      rows.push_back(row);
    }
  }
  return FirstTexts(rows, query.limit);
}

std::vector<std::string> StoreModel::Trials(
    const storage::TrialQuery& query) const {
  const bool by_revision = query.order == storage::TrialQuery::Order::kRevision;
  std::vector<storage::TrialRow> rows;
  for (const auto& [key, row] : trials_) {
    const bool wanted =
        query.states.empty() ||
        std::count(query.states.begin(), query.states.end(), row.state) > 0;
    const std::int64_t place = by_revision ? row.revision : row.number;
    if (row.study == query.study && wanted && place > query.after) {
      rows.push_back(row);
    }
  }
  if (by_revision) {
    std::stable_sort(
        rows.begin(), rows.end(),
        [](const storage::TrialRow& a, const storage::TrialRow& b) {
          return a.revision < b.revision;
        });
  }
  return FirstTexts(rows, query.limit);
}

std::vector<std::string> StoreModel::Attempts(storage::StudyKey study,
                                              std::int64_t number) const {
  std::vector<std::string> texts;
  for (const auto& [key, row] : attempts_) {
    if (row.study == study && row.number == number) texts.push_back(Text(row));
  }
  return texts;
}

std::vector<std::string> StoreModel::Granted(
    const std::string& request_id) const {
  std::vector<std::string> texts;
  for (const auto& [key, row] : attempts_) {
    if (row.request_id == request_id) texts.push_back(Text(row));
  }
  return texts;
}

std::vector<std::string> StoreModel::Summaries(storage::StudyKey after,
                                               int limit) const {
  std::vector<storage::SummaryRow> rows;
  for (const auto& [key, row] : summaries_) {
    if (row.study > after) rows.push_back(row);
  }
  return FirstTexts(rows, limit);
}

std::vector<std::string> StoreModel::Best(storage::StudyKey study,
                                          std::int64_t after, int limit) const {
  std::vector<storage::BestRow> rows;
  for (const auto& [key, row] : best_) {
    if (row.study == study && row.number > after) rows.push_back(row);
  }
  return FirstTexts(rows, limit);
}

std::vector<std::string> StoreModel::Measurements(
    const storage::MeasurementQuery& query) const {
  std::vector<Measurement> rows;
  for (const auto& [key, row] : measurements_) {
    if (row.study == query.study && row.number == query.number &&
        row.attempt == query.attempt &&
        row.measurement.step > query.after_step) {
      rows.push_back(row.measurement);
    }
  }
  return FirstTexts(rows, query.limit);
}

std::vector<std::string> StoreModel::Workers(const std::string& after,
                                             int limit) const {
  std::vector<storage::WorkerRow> rows;
  for (const auto& [id, row] : workers_) {
    if (id > after) rows.push_back(row);
  }
  return FirstTexts(rows, limit);
}

std::vector<std::string> StoreModel::Tokens(const std::string& after,
                                            int limit) const {
  std::vector<storage::TokenRow> rows;
  for (const auto& [id, row] : tokens_) {
    if (id > after) rows.push_back(row);
  }
  return FirstTexts(rows, limit);
}

std::vector<std::string> StoreModel::Certificates(const std::string& after,
                                                  int limit) const {
  std::vector<storage::CertificateRow> rows;
  for (const auto& [id, row] : certificates_) {
    if (id > after) rows.push_back(row);
  }
  return FirstTexts(rows, limit);
}

std::vector<std::string> StoreModel::Notifications(const std::string& after,
                                                   int limit) const {
  std::vector<storage::NotificationRow> rows;
  for (const auto& [id, row] : notifications_) {
    if (id > after) rows.push_back(row);
  }
  return FirstTexts(rows, limit);
}

std::vector<std::string> StoreModel::Audit(std::int64_t after,
                                           int limit) const {
  std::vector<storage::AuditRow> rows;
  for (const auto& [first, row] : audit_) {
    if (first > after) rows.push_back(row);
  }
  return FirstTexts(rows, limit);
}

std::string StoreModel::Study(const std::string& id) const {
  for (const auto& [key, row] : studies_) {
    if (row.id == id && row.state != storage::StudyState::kDeleted)
      return Text(row);
  }
  return "";
}

std::string StoreModel::Outcome(storage::StudyKey study,
                                std::int64_t number) const {
  const auto found = outcomes_.find({study, number});
  return found == outcomes_.end() ? "" : Text(found->second);
}

std::string StoreModel::Log(storage::StudyKey study, std::int64_t number,
                            std::int64_t attempt) const {
  const auto found = logs_.find({study, number, attempt});
  return found == logs_.end() ? "" : Text(found->second);
}

std::string StoreModel::Reply(const std::string& request_id) const {
  const auto found = replies_.find(request_id);
  return found == replies_.end() ? "" : Text(found->second);
}

namespace {

// Random transactions on the store and on the naive model of it: every answer
// and, after every transaction, everything that can be read must be equal. A
// failure names its seed; FROSTLINE_MODEL_SEEDS=n runs more than the default.

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
  Record record;
  for (int first = 0; first < seeds && !HasFailure(); first += kSeedsPerStore) {
    const TempFolder folder;
    ASSERT_OK_AND_ASSIGN(const auto store, GetParam().open(folder.File("d")));
    Walk walk(*store);
    for (int i = 0; i < kSeedsPerStore && !HasFailure(); ++i) {
      SCOPED_TRACE(absl::StrCat("seeds ", first, " to ", first + i));
      walk.Run(static_cast<std::uint64_t>(first + i));
      ++record["seeds"];
      record["transactions"] += kTransactions;
    }
  }
}

}  // namespace frostline::test
