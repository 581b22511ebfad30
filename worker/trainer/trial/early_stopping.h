// SPDX-License-Identifier: Apache-2.0
//
// File: early_stopping.h
//
// Training ends after `patience` evaluations in a row that were not better than
// the best by more than `min_delta`.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_EARLY_STOPPING_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_EARLY_STOPPING_H_

#include <optional>

namespace frostline::trainer {

struct EarlyStoppingState {
  std::optional<double> best;
  int worse = 0;  // evaluations since the best one
};

class EarlyStopping {
 public:
  EarlyStopping(bool maximize, int patience, double min_delta)
      : maximize_(maximize), patience_(patience), min_delta_(min_delta) {}

  // It is true when training should end. A value that is not finite is worse
  // than any that is.
  bool Note(double value);

  bool maximizes() const { return maximize_; }
  bool ended() const { return state_.worse >= patience_; }
  const EarlyStoppingState& state() const { return state_; }
  void Restore(const EarlyStoppingState& state) { state_ = state; }

 private:
  bool maximize_;
  int patience_;
  double min_delta_;
  EarlyStoppingState state_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_EARLY_STOPPING_H_
