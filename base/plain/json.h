// SPDX-License-Identifier: Apache-2.0
//
// File: json.h
//
// Reads and writes JSON. What others wrote has to be RFC 8259 and strict UTF-8,
// without lone surrogates or a key twice in one object, and within limits.
// docs/adr/0014-formats.md says why we read it ourselves.
//
//   Expected<Json> json = Json::Parse(bytes);
//   const JsonValue* model = json.value().root().Find("model");
//   for (const JsonValue* v = model->first; v != nullptr; v = v->next) ...
#ifndef FROSTLINE_BASE_PLAIN_JSON_H_
#define FROSTLINE_BASE_PLAIN_JSON_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/result.h"

namespace frostline {

inline constexpr std::size_t kMaxJsonBytes = std::size_t{32} << 20;

// The kinds of JSON values.
enum class JsonKind : std::uint8_t {
  kNull,
  kBool,
  kNumber,
  kString,
  kArray,
  kObject,
};

// Which numbers are accepted: Python's json, and others, write some that RFC
// 8259 does not have.
enum class JsonNumbers : std::uint8_t {
  kFinite,
  // Also NaN, Infinity and -Infinity; a number too large for a double is
  // infinite.
  kAny,
};

// The limits and liberties of a document.
struct JsonRules {
  // A tokenizer with a million merges has three million.
  std::size_t max_values = 4'000'000;
  std::size_t max_depth = 32;
  JsonNumbers numbers = JsonNumbers::kFinite;
  // A key may stand in one object again. Find() then answers with the first.
  bool repeats_keys = false;
};

// A value of a document. Its members or elements begin at `first`, each linked
// to the next, in the order of the file.
struct JsonValue {
  JsonKind kind = JsonKind::kNull;
  bool truth = false;
  std::uint32_t count = 0;  // of members or elements
  double number = 0.0;      // finite, unless kAny was asked for
  std::string_view key;     // of a member
  std::string_view text;    // a string, without escapes; a number
  const JsonValue* first = nullptr;
  const JsonValue* next = nullptr;

  bool is(JsonKind wanted) const { return kind == wanted; }
  // Returns the member's value; null when this is no object or has no such
  // member.
  const JsonValue* Find(std::string_view name) const;
  // Returns the number if it is a whole one in [0, 2^31).
  std::optional<std::int32_t> Index() const;
};

// A parsed document. Its values point into the parsed bytes where nothing was
// escaped.
class Json {
 public:
  // `bytes` must outlive the result.
  static Expected<Json> Parse(std::string_view bytes,
                              const JsonRules& rules = {});

  const JsonValue& root() const { return values_.front(); }

 private:
  friend class JsonParser;
  std::deque<JsonValue> values_;  // a deque keeps addresses
  std::deque<std::string> unescaped_;
};

// Returns the text quoted and escaped. REQUIRES: `text` is UTF-8.
std::string JsonString(std::string_view text);
// Returns the shortest digits that read back the same. REQUIRES: the number is
// finite.
std::string JsonNumber(double number);
// Returns a value as it was read, on one line; numbers keep their digits.
std::string JsonText(const JsonValue& value);

// How objects and lists are laid out.
enum class JsonLayout : std::uint8_t {
  kCompact,   // {"a":1,"b":[2,3]}
  kSpaced,    // {"a": 1, "b": [2, 3]}
  kIndented,  // a line for each member or item, none of them further in
};

// An object that is written member by member.
//
//   JsonObject().PutText("type", "stop").Put("step", "7").Text()
class JsonObject {
 public:
  // REQUIRES: `json` is a value.
  JsonObject& Put(std::string_view key, std::string_view json);
  JsonObject& PutText(std::string_view key, std::string_view text);
  std::string Text(JsonLayout layout = JsonLayout::kCompact) const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;  // both are JSON
};

// Returns a list. REQUIRES: the items are values.
std::string JsonList(const std::vector<std::string>& items,
                     JsonLayout layout = JsonLayout::kCompact);
// Returns the list of these texts.
std::string JsonTexts(const std::vector<std::string>& texts,
                      JsonLayout layout = JsonLayout::kCompact);

// The parser behind Json::Parse(). It makes one pass, which the first mistake
// ends; a limit on depth bounds the recursion.
class JsonParser {
 public:
  JsonParser(std::string_view bytes, const JsonRules& rules, Json& json)
      : bytes_(bytes), rules_(rules), json_(json) {}

  // Returns nothing when the whole input was one value, else the mistake.
  std::optional<Fault> Run();

 private:
  // All return false once fault_ is set.
  bool Value(std::size_t depth, std::string_view key, JsonValue*& made);
  bool Members(std::size_t depth, JsonValue& parent, char close);
  bool UniqueKeys(const JsonValue& object);
  bool Literal(std::string_view word);
  bool Number(JsonValue& value);
  // Takes a number that JSON does not have; false leaves everything as it was.
  bool NoJsonNumber(JsonValue& value);
  bool String(std::string_view& text);
  bool Escaped(std::size_t begin, std::string_view& text);
  bool Escape(std::string& text);
  bool UnicodeEscape(std::string& text);
  bool FourHex(char32_t& unit);

  void SkipBlanks();
  bool Take(char c);
  bool Fail(FaultKind kind, const std::string& what);
  bool Syntax(const std::string& what) {
    return Fail(FaultKind::kSyntax, what);
  }

  std::string_view bytes_;
  JsonRules rules_;
  Json& json_;
  std::size_t at_ = 0;
  std::vector<std::string_view> keys_;  // scratch of UniqueKeys
  std::optional<Fault> fault_;
};

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_JSON_H_
