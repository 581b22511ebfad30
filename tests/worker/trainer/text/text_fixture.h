// SPDX-License-Identifier: Apache-2.0
//
// File: text_fixture.h
//
// A small language for tests of tokenizers: makes models of a handful of
// tokens and says what they gave.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_TEXT_TEXT_FIXTURE_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_TEXT_TEXT_FIXTURE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/tokenizer.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::trainer {

inline Vocabulary VocabularyOf(std::vector<std::string> tokens) {
  return Vocabulary::FromList(std::move(tokens)).value();
}

// The ids of one word.
inline std::vector<std::int32_t> IdsOf(const SubwordModel& model,
                                       std::string_view word) {
  Workspace workspace;
  std::vector<Piece> pieces;
  model.Tokenize(word, workspace, pieces);
  std::vector<std::int32_t> ids;
  ids.reserve(pieces.size());
  for (const Piece& piece : pieces) ids.push_back(piece.id);
  return ids;
}

// Uncased BERT in a few tokens.
inline Tokenizer SmallBert() {
  return ReadVocabTxt(
             "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\nfilm\n.\n"
             "the\n##s\n",
             {})
      .value();
}

template <typename T>
FaultKind KindOfFault(const Expected<T>& outcome) {
  EXPECT_FALSE(outcome.ok());
  return outcome.ok() ? FaultKind::kUnreadable : outcome.fault().kind;
}

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_TEXT_TEXT_FIXTURE_H_
