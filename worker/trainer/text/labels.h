// SPDX-License-Identifier: Apache-2.0
//
// File: labels.h
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_LABELS_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_LABELS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {

// Losses and metrics leave it out.
inline constexpr std::int32_t kIgnoredLabel = -100;

// `encoding` is of EncodeWords. A word's label goes to its first token,
// kIgnoredLabel to all others; a word without tokens loses its label. Returns
// kMisuse when a word with tokens has none.
Expected<Done> AlignLabels(const Encoding& encoding,
                           std::span<const std::int32_t> word_labels,
                           std::vector<std::int32_t>& token_labels);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_LABELS_H_
