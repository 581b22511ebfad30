// SPDX-License-Identifier: Apache-2.0
//
// File: tokenizer_json.h
//
// Makes a tokenizer from a tokenizer.json. Components are known by name or
// refused; no regular expression, truncation or padding is taken from the file.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_JSON_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_JSON_H_

#include <memory>
#include <string_view>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {

// It keeps nothing of `bytes`, and throws only for want of memory.
Expected<Tokenizer> ReadTokenizerJson(std::string_view bytes);

// Each reads the member of that name, null where the file has null.
Expected<std::unique_ptr<const Normalizer>> ReadNormalizer(
    const JsonValue* value);
Expected<std::unique_ptr<const PreTokenizer>> ReadPreTokenizer(
    const JsonValue* value);
Expected<std::unique_ptr<const SubwordModel>> ReadModel(const JsonValue& value);
Expected<Template> ReadPostProcessor(const JsonValue* value);
Expected<std::vector<AddedToken>> ReadAddedTokens(const JsonValue* value);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_JSON_H_
