// SPDX-License-Identifier: Apache-2.0
//
// File: vocabulary.h
//
// Holds the tokens of a model, by id. Ids are dense and tokens unique, or there
// is no Vocabulary.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_VOCABULARY_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_VOCABULARY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/result.h"

namespace frostline::trainer {

// A trie over bytes lies in two flat arrays (Aoe 1989): a step of a search is
// one addition and one comparison. Threads may share a built one.
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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_VOCABULARY_H_
