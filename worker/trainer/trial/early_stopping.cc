// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/early_stopping.h"

#include <cmath>

namespace frostline::trainer {

bool EarlyStopping::Note(double value) {
  const double gain =
      state_.best ? (maximize_ ? value - *state_.best : *state_.best - value)
                  : min_delta_ + 1.0;
  if (std::isfinite(value) && gain > min_delta_) {
    state_ = {value, 0};
    return false;
  }
  ++state_.worse;
  return ended();
}

}  // namespace frostline::trainer
