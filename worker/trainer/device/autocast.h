// SPDX-License-Identifier: Apache-2.0
//
// File: autocast.h
//
// LibTorch casts the operands of large products alone to bf16 or fp16; weights
// stay fp32.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_AUTOCAST_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_AUTOCAST_H_

#include <ATen/autocast_mode.h>

#include <optional>

#include "worker/trainer/device/precision.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// What operands are cast to, if they are.
inline std::optional<at::ScalarType> HalfOf(Precision precision) {
  if (precision == Precision::kBf16) return at::kBFloat16;
  if (precision == Precision::kFp16) return at::kHalf;
  return std::nullopt;
}

// While it lives, this thread computes on `device` in `precision`. Its copies
// of weights go with it, as weights change. Backward must run outside of it.
class Autocast {
 public:
  Autocast(Precision precision, at::Device device)
      : type_(device.type()),
        enabled_(at::autocast::is_autocast_enabled(type_)),
        dtype_(at::autocast::get_autocast_dtype(type_)),
        cached_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::increment_nesting();
    const std::optional<at::ScalarType> half = HalfOf(precision);
    at::autocast::set_autocast_enabled(type_, half.has_value());
    at::autocast::set_autocast_dtype(type_, half.value_or(at::kBFloat16));
    at::autocast::set_autocast_cache_enabled(true);
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, enabled_);
    at::autocast::set_autocast_dtype(type_, dtype_);
    at::autocast::set_autocast_cache_enabled(cached_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType type_;
  bool enabled_;
  at::ScalarType dtype_;
  bool cached_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_AUTOCAST_H_
