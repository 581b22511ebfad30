// SPDX-License-Identifier: Apache-2.0
//
// File: unigram.h
//
// SentencePiece's unigram model takes, of all ways to cut a word into tokens,
// the one with the highest sum of scores (Viterbi). What no token covers is
// unknown, neighbouring unknown code points together.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_UNIGRAM_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_UNIGRAM_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/vocabulary.h"

namespace frostline::trainer {

class Unigram : public SubwordModel {
 public:
  // scores[i] belongs to token i.
  static Expected<Unigram> Make(Vocabulary vocabulary,
                                std::vector<double> scores,
                                std::int32_t unknown);

  void Tokenize(std::string_view word, Workspace& workspace,
                std::vector<Piece>& pieces) const override;
  std::optional<std::int32_t> IdOf(std::string_view token) const override;
  std::int32_t vocabulary_size() const override { return vocabulary_.size(); }

 private:
  Unigram() = default;

  void Search(std::string_view word, std::vector<Workspace::Best>& best) const;

  Vocabulary vocabulary_;
  std::vector<double> scores_;
  std::int32_t unknown_ = -1;
  double unknown_score_ = 0.0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_UNIGRAM_H_
