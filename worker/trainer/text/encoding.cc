// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/encoding.h"

#include <cstddef>

namespace frostline::trainer {

Expected<Done> AlignLabels(const Encoding& encoding,
                           std::span<const std::int32_t> word_labels,
                           std::vector<std::int32_t>& token_labels) {
  token_labels.assign(encoding.size(), kIgnoredLabel);
  std::int32_t before = kNoWord;
  for (std::size_t i = 0; i < encoding.size(); ++i) {
    const std::int32_t word = encoding.word_ids[i];
    if (word != kNoWord && word != before) {
      if (static_cast<std::size_t>(word) >= word_labels.size()) {
        token_labels.clear();
        return Fault{FaultKind::kMisuse, "a word has no label",
                     "give as many labels as words"};
      }
      token_labels[i] = word_labels[static_cast<std::size_t>(word)];
    }
    before = word;
  }
  return Done{};
}

}  // namespace frostline::trainer
