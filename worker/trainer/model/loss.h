// SPDX-License-Identifier: Apache-2.0
//
// File: loss.h
//
// The loss of a head, as in transformers: cross-entropy over classes, mean
// squared error of numbers.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LOSS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LOSS_H_

#include <cstdint>

#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/text/labels.h"

namespace frostline::trainer {

// Without those that are kIgnoredLabel.
std::int64_t CountLabels(const at::Tensor& labels);

// The mean over the labels that count; REQUIRES: there is one. `smoothing`, in
// [0, 1), spreads that share of a class's target evenly over all classes; not
// of numbers. Throws what LibTorch throws.
at::Tensor LossOf(const HeadSpec& head, const at::Tensor& logits,
                  const at::Tensor& labels, double smoothing);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_LOSS_H_
