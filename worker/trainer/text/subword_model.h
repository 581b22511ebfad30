// SPDX-License-Identifier: Apache-2.0
//
// File: subword_model.h
//
// In the third step a word becomes tokens. Implementations are immutable and
// shared by threads, each with its own Workspace.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_SUBWORD_MODEL_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_SUBWORD_MODEL_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace frostline::trainer {

// It is bytes [begin, end) of the word.
struct Piece {
  std::int32_t id;
  std::uint32_t begin;
  std::uint32_t end;
};

// The buffers' content means nothing between words.
struct Workspace {
  // Unigram keeps the best way to reach each byte.
  struct Best {
    double score;
    std::uint32_t begin;
    std::int32_t id;
  };
  // Byte BPE links symbols, and keeps the merges that may come next.
  struct Symbol {
    std::int32_t id;
    std::uint32_t begin;
    std::uint32_t end;  // equal to begin: merged away
    std::int32_t before;
    std::int32_t after;
  };
  struct Merge {
    std::uint32_t rank;
    std::uint32_t at;
    std::int32_t id;
  };
  std::vector<Best> best;
  std::vector<Symbol> symbols;
  std::vector<Merge> merges;
};

class SubwordModel {
 public:
  virtual ~SubwordModel() = default;

  // Appends the tokens of one word, in order and without holes. `word` is
  // well-formed UTF-8 and not empty.
  virtual void Tokenize(std::string_view word, Workspace& workspace,
                        std::vector<Piece>& pieces) const = 0;

  // Remembering a word's tokens may be cheaper than finding them.
  virtual bool WorthRemembering() const { return true; }

  virtual std::optional<std::int32_t> IdOf(std::string_view token) const = 0;
  virtual std::int32_t vocabulary_size() const = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_SUBWORD_MODEL_H_
