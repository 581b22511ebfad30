// SPDX-License-Identifier: Apache-2.0
//
// File: task.h
//
// A fixed teacher network labels random inputs, the source task. The target's
// teacher has another layer.3 and a turned head; its examples are few, some
// with wrong labels. The model begins near the source's teacher.
#ifndef FROSTLINE_WORKER_DEMO_TRAINER_TASK_H_
#define FROSTLINE_WORKER_DEMO_TRAINER_TASK_H_

#include <vector>

#include "worker/demo_trainer/network.h"

namespace frostline::demo_trainer {

struct Task {
  Network pretrained;  // on the source task
  std::vector<Example> train;
  std::vector<Example> validation;
};

// It is the same everywhere, and takes about 0.1 s.
Task MakeTask();

double Accuracy(const Network& network, const std::vector<Example>& examples);

}  // namespace frostline::demo_trainer

#endif  // FROSTLINE_WORKER_DEMO_TRAINER_TASK_H_
