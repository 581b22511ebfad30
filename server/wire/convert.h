// SPDX-License-Identifier: Apache-2.0
//
// File: convert.h
#ifndef FROSTLINE_SERVER_WIRE_CONVERT_H_
#define FROSTLINE_SERVER_WIRE_CONVERT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"
#include "google/protobuf/message.h"
#include "server/wire/spec.h"
#include "storage/rows.h"
#include "study/history.h"

namespace frostline::server {

// Writes a row as a message. `attempts` are shown in the FULL view only.
v1::Trial TrialToProto(const storage::TrialRow& row,
                       const std::string& study_id, const Space& space,
                       v1::TrialView view,
                       const std::vector<storage::AttemptRow>& attempts);

// Writes a row as a message, without counts and best trials, which rows do not
// hold.
v1::Study StudyToProto(const storage::StudyRow& row);

// `secret` is what the worker has to show; rows hold only its hash.
v1::Lease LeaseToProto(const storage::TrialRow& row,
                       const storage::AttemptRow& attempt,
                       const SecretString& secret, const storage::StudyRow& of,
                       const CheckedStudy& study);

v1::Measurement MeasurementToProto(const Measurement& measurement);
Measurement MeasurementFromProto(const v1::Measurement& proto);

// Reads an outcome. A success must have a finite value for every objective.
absl::StatusOr<Result> ResultFromProto(
    const v1::Outcome& outcome, const std::vector<Objective>& objectives);

std::vector<v1::ResolvedModule> ResolvedModules(const Space& space);

// Makes an Observation of a row; nothing else does. The intermediate values are
// not in the row (search/stored_history.h).
// in the row (search/stored_history.h).

Observation ObservationOf(const storage::TrialRow& row);

TrialUse UseOf(const v1::Usage& usage);

// The error is STEP_OUT_OF_ORDER unless the steps rise from 0 or above, and
// FIELD_TOO_LARGE by limits.h. `field` names the list.
absl::StatusOr<std::vector<storage::MeasurementRow>> MeasurementRows(
    const google::protobuf::RepeatedPtrField<v1::Measurement>& measurements,
    const storage::TrialRow& row, std::int64_t attempt,
    const std::string& field);

// The error is FIELD_TOO_LARGE when an attempt's curve would have this many
// steps.
absl::Status CheckCurve(std::int64_t steps, const std::string& field);

// Serialises a message with its maps in one order: equal content gives equal
// bytes, within one version of the library.
std::string OrderedBytes(const google::protobuf::Message& message);

// What trials say of the examples of their evaluation sets. One row holds all
// sets of a trial: the marks of the validation set in columns, since once there
// were no other sets, and everything else in one blob.

// Returns the set's name as outcomes carry it: "" for "validation".
std::string SetNamed(const std::string& set);
// Returns "test", or for a task "sst2/test".
std::string DescribeSet(const std::string& set, const std::string& task);
// Returns what stands before the names of the set's metrics: "", "test.",
// "sst2.test.".
std::string MetricPrefix(const std::string& set, const std::string& task);

// Returns the set that a study means: "validation" for "" and for "dev", unless
// a data set has the id "dev".
std::string CanonicalSet(const std::string& set, const v1::Training& training);

absl::Status CheckExamples(const v1::Outcome& outcome);

// Returns the row of an outcome, without study and number; nothing when the
// outcome says nothing of examples.
std::optional<storage::OutcomeRow> OutcomeRowOf(const v1::Outcome& outcome);
// Notes in TrialRow.labels, beside people's own labels, for which sets the
// outcome has examples.
void NoteEvaluations(const v1::Outcome& outcome, storage::TrialRow& row);
// Removes this note from the row of a trial that will run the point again.
void ForgetEvaluations(storage::TrialRow& row);

// Returns what the row has of a set, or nothing. "dev" is the validation set
// too, unless a set has that very name.
std::optional<v1::ExampleOutcomes> OutcomesOfSet(const storage::OutcomeRow& row,
                                                 const std::string& set,
                                                 const std::string& task);
// Returns the names of the row's sets in one line.
std::string DescribeSets(const storage::OutcomeRow& row);
// Returns OUTCOMES_MISSING, which names what there is. `row` is null when there
// is nothing.
absl::Status NoOutcomes(const std::string& trial, const std::string& set,
                        const std::string& task, const storage::OutcomeRow* row,
                        const std::string& field);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_CONVERT_H_
