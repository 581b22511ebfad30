// SPDX-License-Identifier: Apache-2.0
//
// File: precision.h
//
// Weights, moments, losses and logits are fp32 in all of them. kTf32 is fp32
// whose products have ten bits of mantissa. kFp16 wants a scaled loss
// (train/optimizer.h).
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_PRECISION_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_PRECISION_H_

#include <cstdint>
#include <string_view>

namespace frostline::trainer {

enum class Precision : std::uint8_t { kFp32, kTf32, kBf16, kFp16 };

constexpr std::string_view NameOf(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kTf32:
      return "tf32";
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp16:
      return "fp16";
  }
  return "";
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_PRECISION_H_
