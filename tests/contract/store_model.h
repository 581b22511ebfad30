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

namespace frostline {

// What a call answers: nothing is OK.
using Answer = std::optional<ErrorId>;

class StoreModel {
 public:
  Answer InsertStudy(StudyRow row, StudyKey key);
  Answer UpdateStudy(StudyRow row, std::int64_t expected_etag);
  Answer PurgeStudy(StudyKey study);
  Answer InsertTrial(const TrialRow& row);
  Answer UpdateTrial(TrialRow row, const TrialGuard& guard);
  Answer PutAttempt(const AttemptRow& row);
  Answer AddMeasurement(const MeasurementRow& row);
  Answer PutOutcome(const OutcomeRow& row);
  Answer PutLog(const LogRow& row);
  Answer PutWorker(const WorkerRow& row);
  Answer RememberReply(const ReplyRow& row);
  Answer ForgetRepliesBefore(WallMicros time);

  // What the store's reads must answer, as texts (row_text.h).
  std::vector<std::string> Studies(const StudyQuery& query) const;
  std::vector<std::string> Trials(const TrialQuery& query) const;
  std::vector<std::string> Attempts(StudyKey study, std::int64_t number) const;
  std::vector<std::string> Measurements(const MeasurementQuery& query) const;
  std::vector<std::string> Workers(const std::string& after, int limit) const;
  std::string Study(const std::string& id) const;  // "" for none
  std::string Outcome(StudyKey study, std::int64_t number) const;
  std::string Log(StudyKey study, std::int64_t number,
                  std::int64_t attempt) const;
  std::string Reply(const std::string& request_id) const;

  const std::map<StudyKey, StudyRow>& studies() const { return studies_; }

 private:
  using TrialKey = std::tuple<StudyKey, std::int64_t>;
  using AttemptKey = std::tuple<StudyKey, std::int64_t, std::int64_t>;
  using StepKey =
      std::tuple<StudyKey, std::int64_t, std::int64_t, std::int64_t>;

  bool IdIsTaken(const StudyRow& row) const;
  bool HasHad(const TrialKey& trial, std::int64_t attempt) const;

  std::map<StudyKey, StudyRow> studies_;
  std::map<TrialKey, TrialRow> trials_;
  std::map<AttemptKey, AttemptRow> attempts_;
  std::map<StepKey, MeasurementRow> measurements_;
  std::map<TrialKey, OutcomeRow> outcomes_;
  std::map<AttemptKey, LogRow> logs_;
  std::map<std::string, WorkerRow> workers_;
  std::map<std::string, ReplyRow> replies_;
};

}  // namespace frostline

#endif  // FROSTLINE_TESTS_CONTRACT_STORE_MODEL_H_
