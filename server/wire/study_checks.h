// SPDX-License-Identifier: Apache-2.0
//
// File: study_checks.h
//
// Checks of what a study says of several tasks and of heads: names, shares,
// words that do not go together, metrics of tasks that are not there.
#ifndef FROSTLINE_SERVER_WIRE_STUDY_CHECKS_H_
#define FROSTLINE_SERVER_WIRE_STUDY_CHECKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"
#include "study/freezing.h"

namespace frostline::server {

std::vector<std::string> NamesOfTasks(const v1::StudySpec& spec);

// Checks StudySpec.tasks, Training.head, task_mixing and gradient_surgery. An
// error names the field. `shape` has the tasks' names, for their selectors.
absl::Status CheckTasks(const v1::StudySpec& spec, const ModelShape& shape);

// Replaces the selectors of `freeze` by the modules that they mean. REQUIRES:
// CheckTasks passed them.
void ResolveFreeze(const ModelShape& shape, v1::TaskSpec& task);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_STUDY_CHECKS_H_
