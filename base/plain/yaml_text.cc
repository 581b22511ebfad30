// SPDX-License-Identifier: Apache-2.0
#include "base/plain/yaml_text.h"

#include <algorithm>

#include "base/plain/number.h"
#include "base/plain/shown.h"

namespace frostline {

Fault YamlFault(const std::string& what, const std::string& fix) {
  return Fault{FaultKind::kSyntax, what, fix};
}

Fault YamlNotClosed(char mark) {
  return YamlFault(std::string("opens ") + mark + " and does not close it",
                   "close it on the same line");
}

void SkipBlanks(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
}

Expected<std::string> TakeYamlQuoted(std::string_view& rest) {
  const char quote = rest.front();
  std::string text;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    const bool more = i + 1 < rest.size();
    if (quote == '"' && rest[i] == '\\') {
      if (!more || (rest[i + 1] != '"' && rest[i + 1] != '\\')) {
        return YamlFault("has an escape other than \\\" and \\\\",
                         "write the character itself");
      }
      text += rest[++i];
    } else if (rest[i] != quote) {
      text += rest[i];
    } else if (quote == '\'' && more && rest[i + 1] == '\'') {
      text += rest[++i];
    } else {
      rest.remove_prefix(i + 1);
      return text;
    }
  }
  return YamlNotClosed(quote);
}

Expected<std::string> YamlPlain(std::string_view text) {
  text = Trimmed(text);
  if (text.empty()) {
    return YamlFault("lacks a value", "give one, or take the key out");
  }
  constexpr std::string_view kReserved = "&*!|>%@`\"'[]{}#,?";
  const bool dash = text == "-" || text.starts_with("- ");
  if (kReserved.find(text.front()) != std::string_view::npos || dash) {
    return YamlFault("a value begins with '" + std::string(1, text.front()) +
                         "', which is not understood here",
                     "put the value in double quotes");
  }
  if (text.find(": ") != std::string_view::npos || text.ends_with(':')) {
    return YamlFault("has a key within a value: " + Shown(text),
                     "put the value in double quotes");
  }
  return std::string(text);
}

std::string_view WithoutComment(std::string_view line) {
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool begins = i == 0 || line[i - 1] == ' ';
    if (quote != '\0') {
      const bool escape = quote == '"' && c == '\\';
      const bool twice = quote == '\'' && line.substr(i, 2) == "''";
      if (escape || twice) {
        ++i;
      } else if (c == quote) {
        quote = '\0';
      }
    } else if (c == '"' || c == '\'') {
      // A quote within a word is a letter: don't.
      const bool opens = begins || line[i - 1] == '[' || line[i - 1] == '{' ||
                         line[i - 1] == ',';
      if (opens) quote = c;
    } else if (c == '#' && begins) {
      line = line.substr(0, i);
      break;
    }
  }
  return line.substr(0, line.find_last_not_of(" \r") + 1);
}

}  // namespace frostline
