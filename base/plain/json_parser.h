// SPDX-License-Identifier: Apache-2.0
//
// File: json_parser.h
//
// Json::Parse() runs this in one pass, ended by the first mistake;
// kMaxJsonDepth bounds the recursion.
#ifndef FROSTLINE_BASE_PLAIN_JSON_PARSER_H_
#define FROSTLINE_BASE_PLAIN_JSON_PARSER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/json.h"

namespace frostline {

class JsonParser {
 public:
  JsonParser(std::string_view bytes, std::size_t max_values,
             JsonNumbers numbers, Json& json)
      : bytes_(bytes),
        max_values_(max_values),
        numbers_(numbers),
        json_(json) {}

  // Answers nothing when the whole input was one value.
  std::optional<Fault> Run();

 private:
  // All return false once fault_ is set.
  bool Value(std::size_t depth, std::string_view key, JsonValue*& made);
  bool Members(std::size_t depth, JsonValue& parent, char close);
  bool UniqueKeys(const JsonValue& object);
  bool Literal(std::string_view word);
  bool Number(JsonValue& value);
  // Takes one of those that JSON does not have; false leaves all as it was.
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
  std::size_t max_values_;
  JsonNumbers numbers_;
  Json& json_;
  std::size_t at_ = 0;
  std::vector<std::string_view> keys_;  // scratch of UniqueKeys
  std::optional<Fault> fault_;
};

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_JSON_PARSER_H_
