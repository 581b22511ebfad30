// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/unigram.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/plain/text.h"

namespace frostline::trainer {
namespace {

// Below the worst token, as SentencePiece has it.
constexpr double kUnknownPenalty = 10.0;
constexpr std::uint32_t kUnreached = 0xFFFFFFFF;

// Strictly better only: the first of equals stays, and so does the reference.
void Offer(Workspace::Best& best, double score, std::size_t begin,
           std::int32_t id) {
  if (best.begin != kUnreached && score <= best.score) return;
  best = {score, static_cast<std::uint32_t>(begin), id};
}

}  // namespace

Expected<Unigram> Unigram::Make(Vocabulary vocabulary,
                                std::vector<double> scores,
                                std::int32_t unknown) {
  if (unknown < 0 || unknown >= vocabulary.size() ||
      scores.size() != static_cast<std::size_t>(vocabulary.size())) {
    return Fault{FaultKind::kInconsistent,
                 "unk_id is no token of the vocabulary",
                 "take the tokenizer.json that belongs to the model"};
  }
  Unigram model;
  model.unknown_ = unknown;
  model.unknown_score_ =
      *std::min_element(scores.begin(), scores.end()) - kUnknownPenalty;
  model.scores_ = std::move(scores);
  model.vocabulary_ = std::move(vocabulary);
  return model;
}

// best[i]: the best path to byte i, and the token that ends there.
void Unigram::Search(std::string_view word,
                     std::vector<Workspace::Best>& best) const {
  best.assign(word.size() + 1, {0.0, kUnreached, -1});
  const DoubleArray& trie = vocabulary_.trie();
  for (std::size_t begin = 0; begin < word.size();) {
    const double here = best[begin].score;
    const std::size_t width = DecodeAt(word, begin).bytes;
    bool covered = false;
    DoubleArray::Node node = trie.Root();
    for (std::size_t i = begin; i < word.size() && trie.Step(node, word[i]);) {
      ++i;
      const std::int32_t id = trie.ValueAt(node);
      if (id < 0) continue;
      Offer(best[i], scores_[static_cast<std::size_t>(id)] + here, begin, id);
      covered |= i == begin + width;
    }
    if (!covered) {
      Offer(best[begin + width], unknown_score_ + here, begin, unknown_);
    }
    begin += width;
  }
}

void Unigram::Tokenize(std::string_view word, Workspace& workspace,
                       std::vector<Piece>& pieces) const {
  Search(word, workspace.best);
  const std::size_t first = pieces.size();
  for (std::size_t end = word.size(); end > 0;) {
    const Workspace::Best& step = workspace.best[end];
    const bool fuse = step.id == unknown_ && pieces.size() > first &&
                      pieces.back().id == unknown_;
    if (fuse) {
      pieces.back().begin = step.begin;
    } else {
      pieces.push_back({step.id, step.begin, static_cast<std::uint32_t>(end)});
    }
    end = step.begin;
  }
  std::reverse(pieces.begin() + static_cast<std::ptrdiff_t>(first),
               pieces.end());
}

std::optional<std::int32_t> Unigram::IdOf(std::string_view token) const {
  const std::int32_t id = vocabulary_.Find(token);
  if (id < 0) return std::nullopt;
  return id;
}

}  // namespace frostline::trainer
