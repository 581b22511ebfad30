// SPDX-License-Identifier: Apache-2.0
//
// File: contradictions.h
//
// Statements of one answer that cannot both be true, and studies of every kind
// to look for them in.
#ifndef FROSTLINE_TESTS_IMPORTANCE_CONTRADICTIONS_H_
#define FROSTLINE_TESTS_IMPORTANCE_CONTRADICTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "importance/plan/frontier.h"
#include "importance/plan/study_plan.h"
#include "importance/ranking.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

// A study and what kind it is: "two bad runs", "26 modules at 30 trials".
struct OddStudy {
  std::string kind;
  Space space;
  std::vector<Objective> objectives;
  History history;
};

// Returns a study of the kind number `seed` modulo all kinds.
OddStudy MakeOddStudy(std::uint64_t seed);

// All that a study is told of itself.
struct WholeAnswer {
  Report report;
  StabilityVerdict stability;
  std::string verdict;
  StudyPlan plan;
  Frontier frontier;
};

// Fails where one of them does.
absl::StatusOr<WholeAnswer> AnswerAll(const OddStudy& study);

// Returns a sentence for each pair of statements that contradict each other.
std::vector<std::string> FindContradictions(const OddStudy& study,
                                            const WholeAnswer& answer);

}  // namespace frostline::importance

#endif  // FROSTLINE_TESTS_IMPORTANCE_CONTRADICTIONS_H_
