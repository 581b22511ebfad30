// SPDX-License-Identifier: Apache-2.0
//
// File: group_key.h
//
// Rows are shared where the same bits would be computed again: the same weights
// and configuration, the same blocks, the same arithmetic on the same kind of
// processor. Whatever could change a bit is part of the key.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_GROUP_KEY_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_GROUP_KEY_H_

#include <cstdint>
#include <string>

#include "worker/trainer/device/device.h"
#include "worker/trainer/device/precision.h"

namespace frostline::trainer {

struct GroupParts {
  std::string weights_sha256;  // of the model's files
  std::string config_json;
  std::string adapters;      // of frozen layers; they change no number but -0
  std::int64_t blocks = 0;   // 1 the embeddings, 1 + k also k layers
  bool first_token = false;  // the last of them gives no more
  Precision precision = Precision::kFp32;
  // Epochs whose noise is part of the rows are apart; "" has none.
  std::string noise;
};

// The LibTorch, the processor or GPU, its kernels and the number of threads.
std::string KernelFingerprint(const Device& device);

// 64 hexadecimal digits.
std::string GroupKeyOf(const GroupParts& parts, const std::string& kernels);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_GROUP_KEY_H_
