// SPDX-License-Identifier: Apache-2.0
//
// File: trial_table.h
#ifndef FROSTLINE_CLI_VIEW_TRIAL_TABLE_H_
#define FROSTLINE_CLI_VIEW_TRIAL_TABLE_H_

#include <google/protobuf/repeated_field.h>

#include <cstdint>

#include "cli/term/table.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// Numbers and durations with their exact values beside them; a rate of 0 is
// "frozen", a time below 0 is "".
Cell NumberCell(double value);
Cell RateCell(double rate);
Cell SecondsCell(double seconds);
Cell CountCell(std::int64_t count);

// As a reply has them: a copy of 5,000 whole trials takes its time.
using Trials = google::protobuf::RepeatedPtrField<v1::Trial>;

// Objectives, time, worker, parameters; below them why trials failed. `all`:
// also when they ran and whence they are, and on demand the rates of modules
// ("rate.layer.3", of the FULL view), usage, labels, note and cause. It has
// then every parameter and module of the spec too, so that a column does not
// depend on which trials are shown.
Table TrialTable(const Trials& trials, const v1::StudySpec& spec, bool all);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_TRIAL_TABLE_H_
