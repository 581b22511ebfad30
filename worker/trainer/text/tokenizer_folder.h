// SPDX-License-Identifier: Apache-2.0
//
// File: tokenizer_folder.h
//
// Loads the tokenizer of a model's folder, as transformers saves one, from the
// first of these:
//
//   tokenizer.json             whole, but for its truncation and padding (some
//                              have both on): how long a text may be is the
//                              trial's to say, and the batcher pads
//   vocab.txt                  WordPiece; case, accents, ideographs and special
//                              tokens as tokenizer_config.json has them, or as
//                              transformers takes them without it: lower case
//   vocab.json and merges.txt  byte-level BPE; tokenizer_config.json has
//                              add_prefix_space
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_FOLDER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_FOLDER_H_

#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {

// Returns kUnreadable, naming the files looked for, where there is none of
// them, as with a SentencePiece model alone. Faults name the file.
Expected<Tokenizer> LoadTokenizer(const std::string& folder);

// Names all files of a tokenizer, also those that only Python reads: a copy of
// the model needs them.
std::vector<std::string> TokenizerFilesOf(const std::string& folder);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_FOLDER_H_
