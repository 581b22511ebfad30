// SPDX-License-Identifier: Apache-2.0
//
// File: fit.h
//
// Holds a study against a registry: what no trial of it could do is told before
// one is tried.
#ifndef FROSTLINE_WORKER_REGISTRY_FIT_H_
#define FROSTLINE_WORKER_REGISTRY_FIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/registry/check.h"

namespace frostline::registry {

// The study's words, as the contract has them; empty and 0 are not said.
struct StudyNeeds {
  std::string model;
  std::string model_sha256;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  bool no_pooler = false;
  // Where the study says this: "data", or "tasks[0].data" of a task.
  std::string data_field = "data";
  std::string data;
  std::string data_sha256;
  std::string task;
  trainer::ColumnMap columns;
  std::string train_split;
  std::string validation_split;
  std::string stopping_metric;
  // Of the objectives; empty ones are of other tasks.
  std::vector<std::string> metrics;
  std::vector<std::string> also_evaluate;
};

// The registry has the model and the data set that the study names, and the
// others that it evaluates.
bool HasAll(const Registry& registry, const StudyNeeds& needs);

// An error is at the study's field: "model.layers". It reads configurations and
// the beginnings of files, no sums. `trains` says that frostline-trainer will
// train: another trainer has metrics of its own.
absl::Status CheckFit(const Registry& registry, const StudyNeeds& needs,
                      bool trains = true);

// What frostline-trainer reports after a validation. Of tagging it has
// precision and recall where tags mark spans.
std::vector<std::string> MetricsOf(trainer::TaskKind kind);

// The metric of frostline-trainer that was probably meant; "" where `metric` is
// one, or is near none.
std::string NearestMetric(const std::string& metric);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_FIT_H_
