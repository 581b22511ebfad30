// SPDX-License-Identifier: Apache-2.0
//
// File: measures.h
//
// What the evaluations of a trial measure, of one task or of several: which
// metrics there are, by which of them one is kept, and what no row can show.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_MEASURES_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_MEASURES_H_

#include <cstddef>
#include <string>

#include "base/plain/result.h"
#include "worker/trainer/trial/scores.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_message.h"
#include "worker/trainer/trial/workbench.h"

namespace frostline::trainer {

// How many steps had tasks whose gradients pointed against each other.
inline constexpr char kConflictsMetric[] = "gradient_conflicts";

// Returns kMisuse where an objective or early stopping names a metric that
// nothing measures.
Expected<Done> CheckMetrics(const TrialMessage& trial, const TrialSetup& setup);

// Returns whether more is better of the metric that early stopping looks at.
bool StopsByMaximum(const TrialMessage& trial);

// Returns the first objective that evaluations measure, on their rows or on
// others: "test.accuracy" is kept by "accuracy". Without one it is what early
// stopping looks at. No metric: the last evaluation is handed over.
TrialObjective WhatToKeepBy(const TrialMessage& trial, const TrialSetup& setup);

bool HaveTests(const TrialSetup& setup);  // all tasks of several

// Adds the mean over several tasks of what stands behind their names and `set`.
void AddMean(const TrialSetup& setup, const std::string& set, Metrics& metrics);

// Returns the most important ones, where they are too many for a message: each
// task's first metric and loss, and what the study asks for.
Metrics Fitting(const TrialMessage& trial, const TrialSetup& setup,
                const Metrics& metrics, std::size_t most);

// Logs, for each set, what of it no metric measures as one would think: words
// behind the end of a text, and labels of no row.
void LogWordsCut(const TrialSetup& setup, TrialListener& listener);
void LogLabelsMissing(const TrialSetup& setup, TrialListener& listener);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_MEASURES_H_
