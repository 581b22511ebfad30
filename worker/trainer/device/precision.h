// SPDX-License-Identifier: Apache-2.0
//
// File: precision.h
//
// Weights, moments, losses and logits are fp32 in both.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_PRECISION_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_PRECISION_H_

#include <cstdint>
#include <string_view>

namespace frostline::trainer {

enum class Precision : std::uint8_t { kFp32, kBf16 };

constexpr std::string_view NameOf(Precision precision) {
  return precision == Precision::kBf16 ? "bf16" : "fp32";
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_PRECISION_H_
