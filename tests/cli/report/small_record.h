// SPDX-License-Identifier: Apache-2.0
//
// File: small_record.h
//
// A study of three trials over two modules, as a coordinator would say it.
#ifndef FROSTLINE_TESTS_CLI_REPORT_SMALL_RECORD_H_
#define FROSTLINE_TESTS_CLI_REPORT_SMALL_RECORD_H_

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

inline v1::Trial TrialOf(std::int64_t number, double score,
                         std::int64_t parameters, double seconds,
                         const std::vector<double>& rates) {
  v1::Trial trial;
  trial.set_name(absl::StrCat("studies/films/trials/", number));
  trial.set_number(number);
  trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial.add_values(score);
  (*trial.mutable_metrics())["accuracy"] = score;
  trial.mutable_usage()->set_trained_parameters(parameters);
  trial.mutable_usage()->set_total_seconds(seconds);
  trial.set_seed(7);
  for (std::size_t m = 0; m < rates.size(); ++m) {
    v1::ModuleRate* const rate = trial.add_rates();
    rate->set_module(absl::StrCat("layer.", m));
    rate->set_rate(rates[m]);
    v1::ParameterValue* const value = trial.add_parameters();
    value->set_name(rate->module());
    value->mutable_value()->set_number_value(rates[m]);
  }
  return trial;
}

inline StudyRecord SmallRecord() {
  StudyRecord record;
  v1::Study& study = record.study;
  study.set_name("studies/films");
  study.set_state(v1::STUDY_STATE_COMPLETED);
  study.set_revision(12);
  study.mutable_spec()->mutable_model()->set_id("minilm");
  study.mutable_spec()->mutable_data()->set_id("films");
  v1::Objective* const objective = study.mutable_spec()->add_objectives();
  objective->set_metric("accuracy");
  objective->set_direction(v1::DIRECTION_MAXIMIZE);
  *record.trials.add_trials() = TrialOf(0, 0.8, 100, 9.0, {1e-4, 1e-3});
  *record.trials.add_trials() = TrialOf(1, 0.9, 60, 5.0, {0.0, 1e-3});
  *record.trials.add_trials() = TrialOf(2, 0.7, 40, 6.0, {0.0, 1e-4});
  v1::Trial* const failed = record.trials.add_trials();
  *failed = TrialOf(3, 0.0, 0, 0.0, {});
  failed->set_state(v1::TRIAL_STATE_FAILED);
  failed->clear_values();
  for (int step = 1; step <= 3; ++step) {
    v1::Measurement* const told = record.curves[1].add_measurements();
    told->set_step(step * 10);
    (*told->mutable_metrics())["accuracy"] = 0.6 + 0.1 * step;
    (*told->mutable_metrics())["odd"] =
        std::numeric_limits<double>::quiet_NaN();
  }
  record.plan.emplace().set_verdict("freeze layer.0, train layer.1");
  v1::PlannedModule* const planned = record.plan->add_modules();
  planned->set_module("layer.0");
  planned->set_freeze(true);
  planned->set_reason("freezing costs < 0.01 | \"nothing\"");
  record.missing.push_back("No importance: too few trials.");
  return record;
}

}  // namespace frostline::cli

#endif  // FROSTLINE_TESTS_CLI_REPORT_SMALL_RECORD_H_
