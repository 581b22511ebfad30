// SPDX-License-Identifier: Apache-2.0
//
// File: tokenizer_json.h
//
// Makes a tokenizer from a tokenizer.json. Components are known by name or
// refused; no regular expression, truncation or padding is taken from the file.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_JSON_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_TOKENIZER_JSON_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "worker/trainer/text/tokenizer.h"

namespace frostline::trainer {

// Takes the members of one component of a tokenizer.json by name and type, and
// keeps the first that does not fit as the fault, so a loader asks once, at the
// end.
class JsonFields {
 public:
  // `where` names the component in faults.
  JsonFields(const JsonValue& object, std::string where);

  // Absent or null is the default; another type is a fault, and the default.
  bool Bool(std::string_view name, bool fallback);
  std::string_view Text(std::string_view name, std::string_view fallback);
  std::int32_t Index(std::string_view name, std::int32_t fallback);
  // It is null, and a fault, when absent or of another kind.
  const JsonValue* Demand(std::string_view name, JsonKind kind);
  // It is null when absent or null.
  const JsonValue* Find(std::string_view name) const;

  // A setting that we would have to imitate, and do not, is a fault.
  void MustBe(std::string_view name, bool holds);
  void Fail(FaultKind kind, const std::string& what);

  const std::optional<Fault>& fault() const { return fault_; }

 private:
  const JsonValue& object_;
  std::string where_;
  std::optional<Fault> fault_;
};

// The reference reads a number of JSON so: all digits as one whole number,
// rounded, then one division or multiplication by a power of ten, rounded
// again. That may be a unit in the last place off the nearest double, and
// decides between cuts of equal sums.
//
// `number` is valid JSON. Where the reference refuses it, it is infinite.
double ScoreOf(std::string_view number);

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
