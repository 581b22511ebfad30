// SPDX-License-Identifier: Apache-2.0
//
// File: example_outcomes.h
//
// What trials say of the examples of their evaluation sets. One row holds all
// sets of a trial: the marks of the validation set in columns, since once there
// were no other sets, and everything else in one blob.
#ifndef FROSTLINE_SERVER_WIRE_EXAMPLE_OUTCOMES_H_
#define FROSTLINE_SERVER_WIRE_EXAMPLE_OUTCOMES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"
#include "storage/rows.h"

namespace frostline::server {

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

#endif  // FROSTLINE_SERVER_WIRE_EXAMPLE_OUTCOMES_H_
