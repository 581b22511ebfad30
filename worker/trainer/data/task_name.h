// SPDX-License-Identifier: Apache-2.0
//
// File: task_name.h
#ifndef FROSTLINE_WORKER_TRAINER_DATA_TASK_NAME_H_
#define FROSTLINE_WORKER_TRAINER_DATA_TASK_NAME_H_

#include <optional>
#include <string_view>

#include "worker/trainer/data/dataset.h"

namespace frostline::trainer {

struct TaskName {
  TaskKind kind = TaskKind::kClassification;
  bool pair = false;  // a second text must be there

  friend bool operator==(const TaskName&, const TaskName&) = default;
};

// "pair" is the classification of two texts.
inline std::optional<TaskName> ParseTaskName(std::string_view name) {
  if (name == "classification") return TaskName{TaskKind::kClassification};
  if (name == "regression") return TaskName{TaskKind::kRegression};
  if (name == "tagging") return TaskName{TaskKind::kTagging};
  if (name == "pair") return TaskName{TaskKind::kClassification, true};
  return std::nullopt;
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_TASK_NAME_H_
