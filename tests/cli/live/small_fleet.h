// SPDX-License-Identifier: Apache-2.0
//
// File: small_fleet.h
#ifndef FROSTLINE_TESTS_CLI_LIVE_SMALL_FLEET_H_
#define FROSTLINE_TESTS_CLI_LIVE_SMALL_FLEET_H_

#include <string>

#include "cli/live/top_screen.h"

namespace frostline::cli {

inline v1::Study SmallStudy() {
  v1::Study study;
  study.set_name("studies/imdb");
  study.set_state(v1::STUDY_STATE_ACTIVE);
  v1::Objective* const objective = study.mutable_spec()->add_objectives();
  objective->set_metric("accuracy");
  objective->set_direction(v1::DIRECTION_MAXIMIZE);
  study.mutable_settings()->mutable_budget()->set_trials(10);
  study.mutable_counts()->set_running(1);
  study.mutable_counts()->set_queued(2);
  study.mutable_counts()->set_succeeded(3);
  study.mutable_counts()->set_budget_used(3);
  return study;
}

inline v1::Trial SmallTrial(std::int64_t number) {
  v1::Trial trial;
  trial.set_name("studies/imdb/trials/" + std::to_string(number));
  trial.set_number(number);
  trial.set_state(v1::TRIAL_STATE_RUNNING);
  trial.set_worker("workers/gpu01");
  trial.mutable_start_time()->set_seconds(1'700'000'000 - 60);
  v1::TrialProgress& progress = *trial.mutable_progress();
  progress.set_phase("training");
  progress.set_step(120);
  progress.set_total_steps(400);
  progress.set_epoch(1.5);
  progress.set_total_epochs(3);
  progress.set_steps_per_second(4);
  progress.mutable_remaining()->set_seconds(70);
  progress.set_slot(1);
  return trial;
}

// One study with one trial, on slot 1 of gpu01, which has two; gpu02 drains.
inline FleetAnswers SmallFleet() {
  FleetAnswers answers;
  answers.coordinator = "127.0.0.1:7070";
  answers.time = 1'700'000'000'000'000;  // 22:13:20 UTC
  answers.info.set_version("0.2.1");
  answers.studies = {SmallStudy()};
  answers.running = {SmallTrial(17)};
  v1::Trial best = SmallTrial(3);
  best.add_values(0.93);
  (*best.mutable_metrics())["accuracy"] = 0.93;
  answers.best = {best};
  answers.workers.resize(2);
  answers.workers[0].set_name("workers/gpu01");
  answers.workers[0].set_slots(2);
  answers.workers[0].set_state(v1::WORKER_STATE_ACTIVE);
  answers.workers[1].set_name("workers/gpu02");
  answers.workers[1].set_slots(1);
  answers.workers[1].set_state(v1::WORKER_STATE_DRAINING);
  return answers;
}

}  // namespace frostline::cli

#endif  // FROSTLINE_TESTS_CLI_LIVE_SMALL_FLEET_H_
