// SPDX-License-Identifier: Apache-2.0
//
// File: word_piece.h
//
// BERT takes from the left always the longest token that fits; a word with a
// part that no token covers is unknown as a whole.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_WORD_PIECE_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_WORD_PIECE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/vocabulary.h"

namespace frostline::trainer {

struct WordPieceOptions {
  std::string unknown = "[UNK]";
  std::string continuation = "##";   // before a token that begins no word
  std::size_t max_characters = 100;  // longer words are unknown
};

class WordPiece : public SubwordModel {
 public:
  static Expected<WordPiece> Make(Vocabulary vocabulary,
                                  const WordPieceOptions& options);

  void Tokenize(std::string_view word, Workspace& workspace,
                std::vector<Piece>& pieces) const override;
  bool WorthRemembering() const override { return false; }
  std::optional<std::int32_t> IdOf(std::string_view token) const override;
  std::int32_t vocabulary_size() const override { return vocabulary_.size(); }

 private:
  WordPiece() = default;

  Vocabulary vocabulary_;
  DoubleArray continuations_;  // without their "##"
  std::int32_t unknown_ = -1;
  std::size_t max_characters_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_WORD_PIECE_H_
