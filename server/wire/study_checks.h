// SPDX-License-Identifier: Apache-2.0
//
// File: study_checks.h
//
// What of a study is refused: tasks that do not go together, and what could
// not end or not be sent.
#ifndef FROSTLINE_SERVER_WIRE_STUDY_CHECKS_H_
#define FROSTLINE_SERVER_WIRE_STUDY_CHECKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"
#include "study/freezing.h"

namespace frostline::server {

// Checks of what a study says of several tasks and of heads: names, shares,
// words that do not go together, metrics of tasks that are not there.

std::vector<std::string> NamesOfTasks(const v1::StudySpec& spec);

// Checks StudySpec.tasks, Training.head, task_mixing and gradient_surgery. An
// error names the field. `shape` has the tasks' names, for their selectors.
absl::Status CheckTasks(const v1::StudySpec& spec, const ModelShape& shape);

// Replaces the selectors of `freeze` by the modules that they mean. REQUIRES:
// CheckTasks passed them.
void ResolveFreeze(const ModelShape& shape, v1::TaskSpec& task);

// Limits that only a new study has to keep. A study is refused when its trials
// could not end: what it names must fit into the messages that carry it later
// (limits.h), and what it searches into the numbers that hold it.
//
// The error is FIELD_TOO_LARGE, RANGE_INVALID or REQUEST_INVALID, and names the
// field. Only new studies are checked: stored ones stay readable.
absl::Status CheckNewStudy(const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_STUDY_CHECKS_H_
