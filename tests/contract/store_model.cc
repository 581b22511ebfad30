// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/store_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/contract/row_text.h"

namespace frostline::test {
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

}  // namespace frostline::test
