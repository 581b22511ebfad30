// SPDX-License-Identifier: Apache-2.0
//
// File: model_checks.h
//
// The recorded models, computed on a device.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_MODEL_CHECKS_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_MODEL_CHECKS_H_

#include <string>

#include "tests/worker/trainer/device/verdicts.h"
#include "worker/trainer/device/device.h"

namespace frostline {

// models/`name`: logits, losses, gradients and their norm; logits in bf16.
void CheckModel(const std::string& name, const Device& device,
                const Limits& limits, Verdicts& verdicts);

}  // namespace frostline

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_MODEL_CHECKS_H_
