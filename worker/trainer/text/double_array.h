// SPDX-License-Identifier: Apache-2.0
//
// File: double_array.h
//
// A trie over bytes in two flat arrays (Aoe 1989): a step of a search is one
// addition and one comparison. Immutable once built, so threads may share it.
//
//   DoubleArray::Node node = trie.Root();
//   while (i < text.size() && trie.Step(node, text[i])) ++i;
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_DOUBLE_ARRAY_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_DOUBLE_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace frostline::trainer {

class DoubleArray {
 public:
  using Node = std::uint32_t;
  using Entry = std::pair<std::string_view, std::int32_t>;

  // No key is in it.
  DoubleArray() : units_(kAlphabet + 1) {}

  // Keys are unique and not empty, values not negative. Linear in the bytes of
  // all keys, whatever they are.
  static DoubleArray Build(std::vector<Entry> entries);

  Node Root() const { return 0; }

  // Follows `byte` and returns true, or returns false and stays.
  bool Step(Node& node, char byte) const {
    const Node to = units_[node].base + static_cast<unsigned char>(byte);
    if (units_[to].parent != node + 1) return false;
    node = to;
    return true;
  }

  // Of the key that ends here, -1 when none does.
  std::int32_t ValueAt(Node node) const { return units_[node].value; }

  // The value of exactly this key, or -1.
  std::int32_t Find(std::string_view key) const;

 private:
  class Builder;

  static constexpr std::size_t kAlphabet = 256;

  struct Unit {
    std::uint32_t base = 0;
    std::uint32_t parent = 0;  // plus one; 0 means free
    std::int32_t value = -1;
  };

  // Always kAlphabet longer than the largest base: no step can leave it.
  std::vector<Unit> units_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_DOUBLE_ARRAY_H_
