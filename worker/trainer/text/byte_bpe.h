// SPDX-License-Identifier: Apache-2.0
//
// File: byte_bpe.h
//
// GPT-2's and RoBERTa's word is its bytes; again and again the pair of
// neighbours that was merged first in training becomes one token. A heap finds
// that pair: O(n log n) for n bytes.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_BYTE_BPE_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_BYTE_BPE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/merge_table.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/vocabulary.h"

namespace frostline::trainer {

class ByteBpe : public SubwordModel {
 public:
  using Pair = std::pair<std::string_view, std::string_view>;

  // Both are in the byte alphabet; merges come in the order of training. All
  // 256 bytes must be tokens.
  static Expected<ByteBpe> Make(Vocabulary vocabulary,
                                const std::vector<Pair>& merges);

  void Tokenize(std::string_view word, Workspace& workspace,
                std::vector<Piece>& pieces) const override;
  std::optional<std::int32_t> IdOf(std::string_view token) const override;
  std::int32_t vocabulary_size() const override { return vocabulary_.size(); }

  // The letter for a byte is itself where it is printable.
  static char32_t LetterOf(unsigned char byte);

 private:
  ByteBpe() = default;

  // Appends the merge of the symbol and the one after it, if there is one; the
  // caller restores the heap.
  bool Propose(Workspace& workspace, std::int32_t left) const;
  void Merge(Workspace& workspace, const Workspace::Merge& merge) const;

  Vocabulary vocabulary_;
  std::array<std::int32_t, 256> byte_ids_{};
  MergeTable merges_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_BYTE_BPE_H_
