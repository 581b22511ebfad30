// SPDX-License-Identifier: Apache-2.0
//
// File: added_tokens.h
//
// Finds tokens as they are written, before any model is asked: "[MASK]", "<s>".
// The leftmost wins, of those the longest.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_ADDED_TOKENS_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_ADDED_TOKENS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/double_array.h"
#include "worker/trainer/text/normalized_text.h"

namespace frostline::trainer {

struct AddedToken {
  std::string content;
  std::int32_t id = -1;
  bool takes_left_space = false;   // white space before it is its own
  bool takes_right_space = false;  // and after it
  bool normalized = false;         // found after normalizing, not before
};

// A section is an added token, or what lies between two.
struct Section {
  ByteRange range;
  std::int32_t id;  // -1: no added token
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // Contents are unique, not empty and at most kMaxTokenBytes long.
  static Expected<AddedTokens> Make(std::vector<AddedToken> tokens);

  // Replaces `sections` by those of `text`, in order, none empty, in linear
  // time.
  void Split(std::string_view text, std::vector<Section>& sections) const;

 private:
  const AddedToken* Longest(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;
  DoubleArray trie_;                // content -> index in tokens_
  std::array<bool, 256> begins_{};  // with this byte
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_ADDED_TOKENS_H_
