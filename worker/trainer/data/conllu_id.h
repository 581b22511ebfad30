// SPDX-License-Identifier: Apache-2.0
//
// File: conllu_id.h
#ifndef FROSTLINE_WORKER_TRAINER_DATA_CONLLU_ID_H_
#define FROSTLINE_WORKER_TRAINER_DATA_CONLLU_ID_H_

#include <cstdint>
#include <string_view>

namespace frostline::trainer {

enum class ConlluLine {
  kWord,       // 3, after two words
  kRange,      // 3-4: one written word for several
  kEmptyNode,  // 2.1: what was left out
  kBroken,
};

// `words` words of the sentence came before.
ConlluLine ConlluLineOf(std::string_view id, std::uint32_t words);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_CONLLU_ID_H_
