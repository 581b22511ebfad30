// SPDX-License-Identifier: Apache-2.0
//
// File: study_view.h
#ifndef FROSTLINE_CLI_VIEW_STUDY_VIEW_H_
#define FROSTLINE_CLI_VIEW_STUDY_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/term/table.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker.pb.h"
#include "study/objective.h"

namespace frostline::cli {

// A line for each kind of value, with all that has it: "embeddings, layer.0-5:
// 0, 3e-05, 0.0003", "head: always 0.001", "kind: small, large".
std::vector<std::string> SpaceLines(const v1::StudySpec& spec);

// The stated range of an objective, else the one its name lets expect.
MetricRange ClaimedRange(const v1::Objective& objective);

// Says of the first objective that is out of its range "accuracy 1.91 is not in
// 0 … 1, …"; "" where none is. It may be a slip, or the range is another.
std::string OutOfRangeText(const v1::StudySpec& spec,
                           const v1::ImportedTrial& trial);

// `wide`: with owners and labels, and on demand more.
Table StudyTable(const std::vector<v1::Study>& studies, bool wide);

// `best` is the FULL view of the first of study.best_trials.
std::string RenderStudy(const v1::Study& study,
                        const std::optional<v1::Trial>& best, int width = 0);

// Shows what a new study comes to: the rate of every module, the size of the
// space, advice.
std::string RenderPlan(const v1::CreateStudyReply& reply, int width);
// Gives each kind of rate a line, without advice.
std::string RenderPlanInShort(const v1::CreateStudyReply& reply);

// All trials that have ended, and those of them that were imported or retried,
// which the budget does not count.
std::int64_t EndedTrials(const v1::TrialCounts& counts);
std::int64_t OutsideBudget(const v1::TrialCounts& counts);

// "17/40 done, 200 outside the budget, 2 running, 1 failed".
std::string ProgressText(const v1::Study& study);

Table WorkerTable(const std::vector<v1::Worker>& workers);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_STUDY_VIEW_H_
