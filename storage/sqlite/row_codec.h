// SPDX-License-Identifier: Apache-2.0
//
// File: row_codec.h
//
// Rows to columns and back, in the order of sql.h. Readers check the seals and
// answer STORE_CORRUPT, naming table and key, when one is broken.
#ifndef FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_
#define FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_

#include "absl/status/statusor.h"
#include "storage/rows.h"
#include "storage/sqlite/statement.h"

namespace frostline {

// The columns that never change, key first, and those that do.
void BindStudyFixed(const StudyRow& row, Statement& statement);
void BindStudyChanging(const StudyRow& row, Statement& statement);
void BindTrialFixed(const TrialRow& row, Statement& statement);
void BindTrialChanging(const TrialRow& row, Statement& statement);

void BindAttempt(const AttemptRow& row, Statement& statement);
void BindMeasurement(const MeasurementRow& row, Statement& statement);
void BindOutcome(const OutcomeRow& row, Statement& statement);
void BindLog(const LogRow& row, Statement& statement);
void BindWorker(const WorkerRow& row, Statement& statement);
void BindReply(const ReplyRow& row, Statement& statement);
void BindLead(const LeadRow& row, Statement& statement);

absl::StatusOr<StudyRow> ReadStudy(const Statement& statement);
absl::StatusOr<TrialRow> ReadTrial(const Statement& statement);
absl::StatusOr<AttemptRow> ReadAttempt(const Statement& statement);
absl::StatusOr<MeasurementRow> ReadMeasurement(const Statement& statement);
absl::StatusOr<OutcomeRow> ReadOutcome(const Statement& statement);
absl::StatusOr<LogRow> ReadLog(const Statement& statement);
absl::StatusOr<WorkerRow> ReadWorker(const Statement& statement);
absl::StatusOr<ReplyRow> ReadReply(const Statement& statement);
absl::StatusOr<LeadRow> ReadLead(const Statement& statement);

}  // namespace frostline

#endif  // FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_
