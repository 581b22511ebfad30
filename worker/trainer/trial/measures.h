// SPDX-License-Identifier: Apache-2.0
//
// File: measures.h
//
// What the evaluations of a trial measure: which metrics there are, which of
// them decides what is kept, and what the rows cannot show.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_MEASURES_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_MEASURES_H_

#include <cstddef>
#include <string>

#include "base/plain/result.h"
#include "worker/trainer/trial/scores.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_message.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

// The number of steps in which gradients of tasks pointed against each other.
inline constexpr char kConflictsMetric[] = "gradient_conflicts";

// Returns kMisuse if an objective or early stopping names a metric that nothing
// measures.
Expected<Done> CheckMetrics(const TrialMessage& trial, const TrialSetup& setup);

// Returns whether more is better of the metric that early stopping looks at.
bool StopsByMaximum(const TrialMessage& trial);

// Returns the metric that decides which evaluation is kept: the first objective
// that evaluations measure, where "test.accuracy" counts as "accuracy"; else
// the metric of early stopping. Without a metric the last evaluation is kept.
TrialObjective WhatToKeepBy(const TrialMessage& trial, const TrialSetup& setup);

// Returns whether there are several tasks and all have a labelled test set.
bool HaveTests(const TrialSetup& setup);

// Adds the mean of the tasks' first metrics on `set`, if there are several
// tasks.
void AddMean(const TrialSetup& setup, const std::string& set, Metrics& metrics);

// Returns all metrics if there are at most `most`. Otherwise leaves out those
// of tasks, but for each task's first metric and loss and what the study asks
// for.
Metrics Fitting(const TrialMessage& trial, const TrialSetup& setup,
                const Metrics& metrics, std::size_t most);

// Log what distorts the metrics of a set: words that were cut off, and labels
// that no row has.
void LogWordsCut(const TrialSetup& setup, TrialListener& listener);
void LogAnswersCut(const TrialSetup& setup, TrialListener& listener);
void LogLabelsMissing(const TrialSetup& setup, TrialListener& listener);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_MEASURES_H_
