// SPDX-License-Identifier: Apache-2.0
//
// File: subword_model.h
//
// The third step of a tokenizer: a word becomes tokens. Implementations are
// immutable and shared by threads, each with its own Workspace.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_SUBWORD_MODEL_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_SUBWORD_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/result.h"

namespace frostline::trainer {

// A trie over bytes (Aoe 1989): a step of a search is one addition and one
// comparison. Threads may share a built one.
//
//   DoubleArray::Node node = trie.Root();
//   while (i < text.size() && trie.Step(node, text[i])) ++i;
class DoubleArray {
 public:
  using Node = std::uint32_t;
  using Entry = std::pair<std::string_view, std::int32_t>;

  DoubleArray() : units_(kAlphabet + 1) {}  // without a key

  // Keys are unique and not empty, values not negative. It takes time linear in
  // the bytes of all keys.
  static DoubleArray Build(std::vector<Entry> entries);

  Node Root() const { return 0; }

  // Follows `byte` and returns true, or returns false and stays.
  bool Step(Node& node, char byte) const {
    const Node to = units_[node].base + static_cast<unsigned char>(byte);
    if (units_[to].parent != node + 1) return false;
    node = to;
    return true;
  }

  // Returns the value of the key that ends here, or -1.
  std::int32_t ValueAt(Node node) const { return units_[node].value; }

  // Returns the value of exactly this key, or -1.
  std::int32_t Find(std::string_view key) const;

 private:
  class Builder;

  static constexpr std::size_t kAlphabet = 256;

  struct Unit {
    std::uint32_t base = 0;
    std::uint32_t parent = 0;  // plus one; 0 means free
    std::int32_t value = -1;
  };

  // They are always kAlphabet longer than the largest base: no step can leave
  // them.
  std::vector<Unit> units_;
};

// The tokens of a model, by id. Ids are dense and tokens unique, or there is no
// Vocabulary.
class Vocabulary {
 public:
  // tokens[i] has id i. An empty token keeps its id and matches nothing.
  static Expected<Vocabulary> FromList(std::vector<std::string> tokens);
  // They may come in any order.
  static Expected<Vocabulary> FromPairs(
      const std::vector<std::pair<std::string_view, std::int32_t>>& pairs);

  std::int32_t size() const {
    return static_cast<std::int32_t>(tokens_.size());
  }
  const std::string& token(std::int32_t id) const {
    return tokens_[static_cast<std::size_t>(id)];
  }
  // Returns -1 for none.
  std::int32_t Find(std::string_view token) const { return trie_.Find(token); }

  const DoubleArray& trie() const { return trie_; }  // without empty tokens

 private:
  std::vector<std::string> tokens_;
  DoubleArray trie_;
};

// A token that covers bytes [begin, end) of a word.
struct Piece {
  std::int32_t id;
  std::uint32_t begin;
  std::uint32_t end;
};

// Buffers for Tokenize. Their content means nothing between words.
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

// Cuts a word into tokens.
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
  // Appends the bytes of a text that the token stands for. Byte-level BPE alone
  // knows them; the others append nothing.
  virtual void AppendBytes(std::int32_t /*id*/, std::string& /*text*/) const {}
};

// Says which two tokens merge, how early, and into what. Sorting, unlike
// hashing, lets no contrived list of merges make a look-up slow.
class MergeTable {
 public:
  struct Merge {
    std::int32_t left;
    std::int32_t right;
    std::uint32_t rank;
    std::int32_t merged;
  };

  // Returns nothing when a pair stands twice.
  static std::optional<MergeTable> Make(std::vector<Merge> merges,
                                        std::size_t vocabulary_size);

  // Returns null when these two ids of the vocabulary never merge.
  const Merge* Find(std::int32_t left, std::int32_t right) const {
    std::size_t begin = first_[static_cast<std::size_t>(left)];
    std::size_t end = first_[static_cast<std::size_t>(left) + 1];
    while (begin < end) {
      const std::size_t middle = (begin + end) / 2;
      const Merge& merge = merges_[middle];
      if (merge.right == right) return &merge;
      if (merge.right < right) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return nullptr;
  }

 private:
  std::vector<Merge> merges_;       // by left, then right
  std::vector<std::size_t> first_;  // of each left; one more at the end
};

// Byte-level BPE (GPT-2, RoBERTa). A word is its bytes. Again and again the
// pair of neighbours that was merged first in training becomes one token. A
// heap finds that pair: O(n log n) for n bytes.
class ByteBpe : public SubwordModel {
 public:
  using Pair = std::pair<std::string_view, std::string_view>;

  // Both are in the byte alphabet; merges come in the order of training. Bytes
  // must be tokens, except some that hardly a text has: these leave no trace.
  // With `whole_words` a word that is a token is that token, whatever merges
  // would make of it, as in Llama 3.
  static Expected<ByteBpe> Make(Vocabulary vocabulary,
                                const std::vector<Pair>& merges,
                                bool whole_words = false);

  void Tokenize(std::string_view word, Workspace& workspace,
                std::vector<Piece>& pieces) const override;
  std::optional<std::int32_t> IdOf(std::string_view token) const override;
  std::int32_t vocabulary_size() const override { return vocabulary_.size(); }
  void AppendBytes(std::int32_t id, std::string& text) const override;

  // The letter for a byte is itself where it is printable.
  static char32_t LetterOf(unsigned char byte);

 private:
  ByteBpe() = default;

  // Appends the merge of the symbol and the one after it, if there is one; the
  // caller restores the heap.
  bool Propose(Workspace& workspace, std::int32_t left) const;
  void Merge(Workspace& workspace, const Workspace::Merge& merge) const;

  // The token that a whole word is, or a negative number.
  std::int32_t TokenOf(std::string_view word) const;

  Vocabulary vocabulary_;
  bool whole_words_ = false;
  std::array<std::int32_t, 256> byte_ids_{};
  MergeTable merges_;
};

struct WordPieceOptions {
  std::string unknown = "[UNK]";
  std::string continuation = "##";   // before a token that begins no word
  std::size_t max_characters = 100;  // longer words are unknown
};

// BERT's model. It takes from the left always the longest token that fits. A
// word with a part that no token covers is unknown as a whole.
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

// SentencePiece's unigram model takes, of all ways to cut a word into tokens,
// the one with the highest sum of scores (Viterbi). What no token covers is
// unknown, neighbouring unknown code points together.
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

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_SUBWORD_MODEL_H_
