// SPDX-License-Identifier: Apache-2.0
//
// File: torch_cuda.h
//
// The CUDA half of LibTorch is reached through interfaces that the half we link
// has for any accelerator (docs/adr/0009-devices.md).
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_TORCH_CUDA_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_TORCH_CUDA_H_

#include <cstdint>

#include "base/plain/result.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Loads libtorch_cuda from beside libtorch_cpu and starts GPU `index`, without
// TF32. Returns kUnsupported with the loader's words when something is missing.
Expected<Done> StartTorchCuda(int index);

// The GPU must be started. Before LibTorch 2.9 it is 0.
std::int64_t PeakBytesOf(at::Device gpu);
void ResetPeakOf(at::Device gpu);
void ReleaseCacheOf(at::Device gpu);
void WaitFor(at::Device gpu);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_TORCH_CUDA_H_
