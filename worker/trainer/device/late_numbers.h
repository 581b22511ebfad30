// SPDX-License-Identifier: Apache-2.0
//
// File: late_numbers.h
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_LATE_NUMBERS_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_LATE_NUMBERS_H_

#include <c10/core/Event.h>

#include <optional>
#include <vector>

#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Numbers on their way to main memory: who reads them waits until a GPU has
// come so far, and not for what was handed to it since. It moves; one thread
// uses it. Both throw what LibTorch throws.
class LateNumbers {
 public:
  // `numbers` is [n], of doubles.
  explicit LateNumbers(const at::Tensor& numbers);

  std::vector<double> Read() const;

 private:
  at::Tensor here_;
  std::optional<c10::Event> arrived_;  // of a GPU
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_LATE_NUMBERS_H_
