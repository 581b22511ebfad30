// SPDX-License-Identifier: Apache-2.0
//
// File: say.h
//
// Lets a decoder go on with prompts: each time with the likeliest token, until
// one that ends it or until the text is as long as it may be.
#ifndef FROSTLINE_WORKER_TRAINER_PREDICT_SAY_H_
#define FROSTLINE_WORKER_TRAINER_PREDICT_SAY_H_

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

using TokenIds = std::vector<std::int32_t>;

// When a decoder stops, and how it computes.
struct SayOptions {
  std::set<std::int32_t> ends = {};  // tokens
  // The most tokens that are read of a text, its prompt with them. The last
  // token that is said is not read.
  std::int64_t longest = 0;
  Precision precision = Precision::kFp32;
};

// Returns what is said after each prompt, without the token that ends it. The
// head is one for answers, and no prompt is empty or longer than `longest`.
Expected<std::vector<TokenIds>> Say(
    const Model& model,
    const std::vector<std::span<const std::int32_t>>& prompts,
    const SayOptions& options);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREDICT_SAY_H_
