// SPDX-License-Identifier: Apache-2.0
//
// File: study_view.h
#ifndef FROSTLINE_CLI_VIEW_STUDY_VIEW_H_
#define FROSTLINE_CLI_VIEW_STUDY_VIEW_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/term/table.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker.pb.h"
#include "study/objective.h"

namespace frostline::cli {

// Returns a line for each kind of value, with everything that has it:
// "embeddings, layer.0-5: 0, 3e-05, 0.0003", "head: always 0.001", "kind:
// small, large".
std::vector<std::string> SpaceLines(const v1::StudySpec& spec);

// Returns the stated range of an objective, else the range that its name
// suggests.
MetricRange ClaimedRange(const v1::Objective& objective);

// Returns "accuracy 1.91 is not in 0 … 1, …" for the first objective out of its
// range, or "". Either the value or the range may be wrong.
std::string OutOfRangeText(const v1::StudySpec& spec,
                           const v1::ImportedTrial& trial);

// The result of a study's best trial: "accuracy 0.884", and for programs 0.884.
Cell BestCell(const v1::Trial& best, const v1::StudySpec& spec);

// Returns the table of studies. `best` has the best cells of those that are
// known, by the study's name. `wide` adds owners and labels, and more columns
// on demand.
Table StudyTable(const std::vector<v1::Study>& studies,
                 const std::map<std::string, Cell>& best, bool wide);

// Returns a study as text. `best` is the first of study.best_trials in the FULL
// view.
std::string RenderStudy(const v1::Study& study,
                        const std::optional<v1::Trial>& best, int width = 0);

// Returns a summary of a new study: the rate of every module, the size of the
// space, advice.
std::string RenderPlan(const v1::CreateStudyReply& reply, int width);
// Returns the same in short: a line for each kind of rate, without advice.
std::string RenderPlanInShort(const v1::CreateStudyReply& reply);

// The first returns the number of trials that have ended. The second returns
// how many of them were imported or retried, which the budget does not count.
std::int64_t EndedTrials(const v1::TrialCounts& counts);
std::int64_t OutsideBudget(const v1::TrialCounts& counts);

// Returns "17/40 done, 200 outside the budget, 2 running, 1 failed".
std::string ProgressText(const v1::Study& study);

Table WorkerTable(const std::vector<v1::Worker>& workers);

// The fields in which two messages of one type differ.

// A changed field. A side is empty when the field is missing or has its
// default.
struct FieldChange {
  std::string path;  // "space.modules[layer.0].levels.rates"
  std::string from;
  std::string to;
};

// Returns the changes by path. Items of lists are matched by their select, name
// or metric, so a new order is no change. Numbers are compared exactly.
std::vector<FieldChange> FieldChanges(const google::protobuf::Message& from,
                                      const google::protobuf::Message& to);

// Returns a line for each change: "budget.trials: 100 -> 200". "-" means no
// value.
std::string RenderFieldChanges(const std::vector<FieldChange>& changes);
std::string FieldChangesToJson(const std::vector<FieldChange>& changes);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_STUDY_VIEW_H_
