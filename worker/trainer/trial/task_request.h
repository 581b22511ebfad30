// SPDX-License-Identifier: Apache-2.0
//
// File: task_request.h
//
// Reads what a trial is to learn: the message's `tasks`, or its `data` and
// `training.head` as the only one.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TASK_REQUEST_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TASK_REQUEST_H_

#include <set>
#include <string>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "worker/trainer/data/data_request.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/trial/training_settings.h"

namespace frostline::trainer {

struct TaskRequest {
  std::string name;  // empty: the only one
  DataRequest data;
  HeadSpec head;  // task and outputs follow from the data
  std::string loss;
  double share = 0.0;  // 0, of all: by their rows
  double loss_weight = 1.0;
  std::set<std::string> freeze;  // modules that its batches do not train

  // "tasks.sst.data" of the task sst, else "data".
  std::string FieldOf(const std::string& name) const;
  // What stands before its metrics: "sst.".
  std::string prefix() const { return name.empty() ? "" : name + "."; }
};

// `message` is the whole one, `training` what was read of it. A fault names the
// field.
Expected<std::vector<TaskRequest>> ReadTaskRequests(
    const JsonValue& message, const TrainingSettings& training);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TASK_REQUEST_H_
