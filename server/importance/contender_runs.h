// SPDX-License-Identifier: Apache-2.0
//
// File: contender_runs.h
//
// Reads what a comparison of trials is about, and refuses what cannot be
// compared: OUTCOMES_MISSING, OUTCOMES_DIFFER, METRIC_UNTESTABLE.
#ifndef FROSTLINE_SERVER_IMPORTANCE_CONTENDER_RUNS_H_
#define FROSTLINE_SERVER_IMPORTANCE_CONTENDER_RUNS_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/importance_service.pb.h"
#include "server/importance/contender_trials.h"
#include "statistics/compare.h"
#include "study/objective.h"

namespace frostline::server {

struct ComparedRuns {
  std::vector<statistics::Contender> contenders;
  // By contender, then by run: their names.
  std::vector<std::vector<std::string>> trials;
  std::string metric;  // as trials report it: of another set "test.accuracy"
  Direction direction = Direction::kMaximize;
  std::string set;  // of the outcomes
  std::string task;
  std::string fingerprint;
  std::int64_t examples = 0;
  std::int64_t sentences = 0;  // 0: not known, or there are none
  // Words whose sentences are not known are taken as independent.
  bool loose_words = false;
};

absl::StatusOr<ComparedRuns> ReadContenders(
    const v1::CompareTrialsRequest& request, const StudiesByName& studies,
    ImportanceDesk& desk, const std::stop_token& stop);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_CONTENDER_RUNS_H_
