// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/word_piece.h"

#include <utility>

#include "base/plain/text.h"

namespace frostline::trainer {

Expected<WordPiece> WordPiece::Make(Vocabulary vocabulary,
                                    const WordPieceOptions& options) {
  WordPiece model;
  model.unknown_ = vocabulary.Find(options.unknown);
  if (model.unknown_ < 0) {
    return Fault{FaultKind::kInconsistent,
                 "the vocabulary lacks the token for unknown words",
                 "name a token of the vocabulary as unk_token"};
  }
  std::vector<DoubleArray::Entry> continuations;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view token = vocabulary.token(id);
    if (token.size() > options.continuation.size() &&
        token.starts_with(options.continuation)) {
      continuations.emplace_back(token.substr(options.continuation.size()), id);
    }
  }
  model.continuations_ = DoubleArray::Build(std::move(continuations));
  model.max_characters_ = options.max_characters;
  model.vocabulary_ = std::move(vocabulary);
  return model;
}

void WordPiece::Tokenize(std::string_view word, Workspace&,
                         std::vector<Piece>& pieces) const {
  const std::size_t before = pieces.size();
  const bool too_long =
      word.size() > max_characters_ && CountCodePoints(word) > max_characters_;
  std::size_t begin = too_long ? word.size() : 0;
  while (begin < word.size()) {
    const DoubleArray& trie = begin == 0 ? vocabulary_.trie() : continuations_;
    DoubleArray::Node node = trie.Root();
    Piece longest{-1, static_cast<std::uint32_t>(begin), 0};
    for (std::size_t i = begin; i < word.size() && trie.Step(node, word[i]);) {
      ++i;
      if (trie.ValueAt(node) < 0) continue;
      longest.id = trie.ValueAt(node);
      longest.end = static_cast<std::uint32_t>(i);
    }
    if (longest.id < 0) break;
    pieces.push_back(longest);
    begin = longest.end;
  }
  if (begin == word.size() && !too_long) return;
  pieces.resize(before);
  pieces.push_back({unknown_, 0, static_cast<std::uint32_t>(word.size())});
}

std::optional<std::int32_t> WordPiece::IdOf(std::string_view token) const {
  const std::int32_t id = vocabulary_.Find(token);
  if (id < 0) return std::nullopt;
  return id;
}

}  // namespace frostline::trainer
