// SPDX-License-Identifier: Apache-2.0
//
// File: loss.h
//
// As in transformers, the loss is cross-entropy over classes or the mean
// squared error of numbers.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LOSS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LOSS_H_

#include <cstdint>

#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/text/labels.h"

namespace frostline::trainer {

std::int64_t CountLabels(const at::Tensor& labels);  // without kIgnoredLabel
// The sum of the labels' weights; without `class_weights` each weighs 1. Both
// are on one device.
double WeighLabels(const at::Tensor& labels, const at::Tensor& class_weights);

// Returns the mean over the labels that count, weighted by their classes; there
// must be one. `smoothing`, in [0, 1), spreads that share of a class's target
// evenly over all classes. `class_weights` are fp32, where the logits are.
// Throws what LibTorch throws.
at::Tensor LossOf(const HeadSpec& head, const at::Tensor& logits,
                  const at::Tensor& labels, double smoothing,
                  const at::Tensor& class_weights = {});

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_LOSS_H_
