// SPDX-License-Identifier: Apache-2.0
//
// File: task.h
//
// A fine-tuning problem whose answer is known. A fixed teacher network labels
// random inputs: the source task. For the target task the teacher's layer.3 is
// another one and its head is turned, and only few of the target's examples,
// some with wrong labels, are there to learn from. The model begins near the
// source's teacher, so its layers keep their places: training layer.3 and head
// is what is needed, and training everything mostly learns the wrong labels.
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

// The same in every process and on every machine. About 0.1 s; make it once.
Task MakeTask();

// Share of `examples` that `network` labels right.
double Accuracy(const Network& network, const std::vector<Example>& examples);

}  // namespace frostline::demo_trainer

#endif  // FROSTLINE_WORKER_DEMO_TRAINER_TASK_H_
