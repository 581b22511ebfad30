// SPDX-License-Identifier: Apache-2.0
//
// File: vocabulary.h
//
// Holds the tokens of a model, by id. Ids are dense and tokens unique, or there
// is no Vocabulary.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_VOCABULARY_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/double_array.h"

namespace frostline::trainer {

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
