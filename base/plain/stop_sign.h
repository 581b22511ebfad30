// SPDX-License-Identifier: Apache-2.0
//
// File: stop_sign.h
//
// Long work asks between slices whether it is still wanted: a row, a tensor, a
// mebibyte of a sum. Whoever asked for the work may have changed their mind in
// another thread.
//
//   for (const Row& row : rows) {
//     if (Expected<Done> wanted = stop.Check(); !wanted.ok()) return ...
#ifndef FROSTLINE_BASE_PLAIN_STOP_SIGN_H_
#define FROSTLINE_BASE_PLAIN_STOP_SIGN_H_

#include <functional>
#include <utility>

#include "base/plain/result.h"

namespace frostline {

class StopSign {
 public:
  // This one never stops anybody.
  StopSign() = default;
  // `raised` is asked in the thread that works, for each slice: it is cheap.
  explicit StopSign(std::function<bool()> raised)
      : raised_(std::move(raised)) {}

  // Returns kStopped once it is raised. What was half done is thrown away.
  Expected<Done> Check() const {
    if (!raised_ || !raised_()) return Done{};
    return Fault{FaultKind::kStopped, "a stop came before the work was done",
                 "start it again"};
  }

 private:
  std::function<bool()> raised_;
};

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_STOP_SIGN_H_
