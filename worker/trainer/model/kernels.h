// SPDX-License-Identifier: Apache-2.0
//
// File: kernels.h
//
// How a device likes its work. Results are the same but for rounding, so that
// any device can be asked to work as another does (docs/reference/gpu.md).
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_KERNELS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_KERNELS_H_

#include <cstdint>

#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

struct Kernels {
  // Query, key and value come from one product: starting a kernel costs a GPU
  // more than a larger one does. A processor gains nothing by it.
  bool one_product = false;
  // Texts are padded to a multiple of so many tokens.
  std::int64_t pad_to = 1;
  // The figures of a step are read when the next one has been handed over.
  bool late_figures = false;
};

inline Kernels KernelsFor(at::Device device) {
  if (device.is_cpu()) return {};
  return {.one_product = true, .pad_to = 8, .late_figures = true};
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_KERNELS_H_
