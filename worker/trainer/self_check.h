// SPDX-License-Identifier: Apache-2.0
//
// File: self_check.h
//
// Proves that this binary and the LibTorch it found at run time fit together.
#ifndef FROSTLINE_WORKER_TRAINER_SELF_CHECK_H_
#define FROSTLINE_WORKER_TRAINER_SELF_CHECK_H_

#include <string>

namespace frostline {

struct SelfCheck {
  bool ok = false;
  std::string torch_version;
  double matmul_sum = 0.0;  // what LibTorch computed
  std::string error;        // why not ok, in one line
};

// Of the headers this was compiled with, e.g. "2.11.0".
std::string TorchVersion();

// Multiplies two small matrices whose product is known and compares all of
// it. Never throws.
SelfCheck RunSelfCheck();

// One JSON object on one line, without the line end.
std::string ToJson(const SelfCheck& check);

}  // namespace frostline

#endif  // FROSTLINE_WORKER_TRAINER_SELF_CHECK_H_
