// SPDX-License-Identifier: Apache-2.0
//
// File: answers.h
//
// What a running study knows of its question: how much of the model must be
// trained? Most trials look for a better score; some are spent on what is open
// in the answer (importance/plan/plan_trials.h): whether a small set is enough,
// what freezing a module costs, whether the best trial was lucky. All of it is
// a function of the history, so a study replays.
//
//   number    0 … 9       10 … 23     24 …
//   trial     balanced    sampler's   3 in 10 for the answer, else the
//   sampler's
#ifndef FROSTLINE_SERVER_SEARCH_ANSWERS_H_
#define FROSTLINE_SERVER_SEARCH_ANSWERS_H_

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "server/wire/spec.h"
#include "study/history.h"
#include "study/space.h"

namespace frostline::server {

// Before so many trials a belief is little more than the prior.
inline constexpr std::int64_t kFirstAnswer = 24;
// The share of trials that are for the answer.
inline constexpr double kAnswerShare = 0.3;
// Beyond it little is open, and looking takes seconds.
inline constexpr std::int64_t kMostAsked = 500;

// Says whether trial `number` is for the answer: purpose BOTH, where the
// sampler learns and the space both freezes and trains some module.
bool IsForAnswer(const CheckedStudy& study, std::int64_t number);

// Returns the trial that would tell most, which may be one that has run; none
// where nothing is open or too little has ended. The error is CANCELLED.
absl::StatusOr<std::optional<Point>> PointForAnswer(
    const CheckedStudy& study, const History& history,
    const std::stop_token& stop);

// Returns the answer with which the study is over, as a sentence; "" while it
// is open or the study does not ask (StudySettings.stop_when). The error is
// CANCELLED.
absl::StatusOr<std::string> FindAnswer(const CheckedStudy& study,
                                       const History& history,
                                       const std::stop_token& stop);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_ANSWERS_H_
