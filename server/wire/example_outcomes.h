// SPDX-License-Identifier: Apache-2.0
//
// File: example_outcomes.h
//
// What trials say of the examples of their evaluation sets. A row holds all of
// a trial's sets: the validation set's marks in columns, as from before there
// were others, and what else was said in one blob.
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

// The name of a set as outcomes carry it: nothing stands for "validation".
std::string SetNamed(const std::string& set);
// "test", of a task "sst2/test".
std::string DescribeSet(const std::string& set, const std::string& task);
// What stands before the set's metrics: "", "test.", "sst2.test.".
std::string MetricPrefix(const std::string& set, const std::string& task);

// The set that a study means: "validation" for nothing and for "dev", unless a
// data set has that id.
std::string CanonicalSet(const std::string& set, const v1::Training& training);

absl::Status CheckExamples(const v1::Outcome& outcome);

// Nothing where the outcome has none. Without study and number.
std::optional<storage::OutcomeRow> OutcomeRowOf(const v1::Outcome& outcome);
// Notes in TrialRow.labels, beside what people wrote there, of which sets the
// outcome has examples.
void NoteEvaluations(const v1::Outcome& outcome, storage::TrialRow& row);
// A trial that runs this one's point again has none yet.
void ForgetEvaluations(storage::TrialRow& row);

// Nothing where the row has none of that set. "dev" is the validation set too,
// unless a set has that very name.
std::optional<v1::ExampleOutcomes> OutcomesOfSet(const storage::OutcomeRow& row,
                                                 const std::string& set,
                                                 const std::string& task);
// Names those that there are, in one line.
std::string DescribeSets(const storage::OutcomeRow& row);
// OUTCOMES_MISSING, naming what there is; `row` is null where there is nothing.
absl::Status NoOutcomes(const std::string& trial, const std::string& set,
                        const std::string& task, const storage::OutcomeRow* row,
                        const std::string& field);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_EXAMPLE_OUTCOMES_H_
