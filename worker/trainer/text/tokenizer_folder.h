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

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "worker/trainer/text/normalizer.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {

// Makes a tokenizer from BERT's vocab.txt, or RoBERTa's vocab.json with
// merges.txt. They say nothing of case and blanks, so the caller does
// (tokenizer_config.json has it).

struct BertTokens {
  std::string unknown = "[UNK]";
  std::string cls = "[CLS]";
  std::string sep = "[SEP]";
  std::string pad = "[PAD]";
  std::string mask = "[MASK]";
};

// One token stands on a line, its id the number of the line from 0, without
// white space at its end. The first three of `tokens` must be there.
Expected<Tokenizer> ReadVocabTxt(std::string_view bytes,
                                 const BertNormalizerOptions& options,
                                 const BertTokens& tokens = {});

// Those of <s>, </s>, <pad>, <unk> and <mask> that are tokens are found in
// texts; without the first two, as in GPT-2's, there is no template.
Expected<Tokenizer> ReadBpeFiles(std::string_view vocab_json,
                                 std::string_view merges_txt,
                                 bool add_prefix_space);

// Returns those of `names` that are tokens.
std::vector<AddedToken> AddedOf(const SubwordModel& model,
                                std::initializer_list<std::string_view> names);
// `object` is {"token": id, ...}.
Expected<Vocabulary> ReadVocabulary(const JsonValue& object);
// `line` is "a b".
std::optional<ByteBpe::Pair> SplitMerge(std::string_view line);

// The token that ends answers is the "eos_token" of tokenizer_config.json; how
// chats are written is found by its "chat_template" or chat_template.jinja.
// Returns kUnreadable, naming the files looked for, where there is none of
// them, as with a SentencePiece model alone. Faults name the file.
Expected<Tokenizer> LoadTokenizer(const std::string& folder);

// Names all files of a tokenizer, also those that only Python reads: a copy of
// the model needs them.
std::vector<std::string> TokenizerFilesOf(const std::string& folder);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_FOLDER_H_
