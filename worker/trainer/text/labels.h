// SPDX-License-Identifier: Apache-2.0
//
// File: labels.h
//
// For tagging: the label of a word goes to its first token.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_LABELS_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_LABELS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {

// What losses and metrics leave out.
inline constexpr std::int32_t kIgnoredLabel = -100;

// For `encoding` of EncodeWords: a word's label at its first token,
// kIgnoredLabel at all others. A word without tokens loses its label. kMisuse
// when there are fewer labels than words.
Expected<Done> AlignLabels(const Encoding& encoding,
                           std::span<const std::int32_t> word_labels,
                           std::vector<std::int32_t>& token_labels);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_LABELS_H_
