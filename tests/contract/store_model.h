// SPDX-License-Identifier: Apache-2.0
//
// File: store_model.h
//
// trial_store.h once more, so naive that it can be seen to be right: a few maps
// that are copied when something must be undone later. Reads scan everything.
#ifndef FROSTLINE_TESTS_CONTRACT_STORE_MODEL_H_
#define FROSTLINE_TESTS_CONTRACT_STORE_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "storage/trial_store.h"

namespace frostline::test {

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

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_CONTRACT_STORE_MODEL_H_
