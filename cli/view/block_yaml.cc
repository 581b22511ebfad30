// SPDX-License-Identifier: Apache-2.0
#include "cli/view/block_yaml.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kIndent = 2;
constexpr const char* kOtherThanText[] = {"true", "false", "null", "yes", "no",
                                          "on",   "off",   "y",    "n"};
constexpr std::size_t kLongestOther = 5;

bool IsPlainChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_-./ ,()+=").find(c) != std::string_view::npos;
}

bool NeedsQuotes(const std::string& text) {
  if (text.empty() || text.back() == ' ') return true;
  const auto first = static_cast<unsigned char>(text.front());
  if (!absl::ascii_isalpha(first) && first != '/' && first != '_') return true;
  if (!std::all_of(text.begin(), text.end(), IsPlainChar)) return true;
  return text.size() <= kLongestOther &&
         std::any_of(std::begin(kOtherThanText), std::end(kOtherThanText),
                     [&text](const char* other) {
                       return absl::EqualsIgnoreCase(text, other);
                     });
}

// The letter of a short escape; 0 for none.
char EscapeOf(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\t':
      return 't';
    case '\r':
      return 'r';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    default:
      return 0;
  }
}

struct Escaped {
  std::string_view bytes;
  std::string_view text;
};

// In UTF-8, what a reader would fold or drop: ends of lines that are no ASCII,
// and the mark that a file may begin with.
constexpr std::array<Escaped, 4> kEscaped = {{{"\xC2\x85", "\\x85"},
                                              {"\xE2\x80\xA8", "\\u2028"},
                                              {"\xE2\x80\xA9", "\\u2029"},
                                              {"\xEF\xBB\xBF", "\\ufeff"}}};

// Appends one character of several bytes; returns how many it took.
std::size_t PutWide(std::string_view rest, std::string& to) {
  for (const Escaped& one : kEscaped) {
    if (!rest.starts_with(one.bytes)) continue;
    to += one.text;
    return one.bytes.size();
  }
  // The other controls between U+0080 and U+009F, and the hard blank.
  if (rest.size() > 1 && rest[0] == '\xC2' &&
      static_cast<unsigned char>(rest[1]) <= 0xA0) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(rest[1]);
    to += {'\\', 'x', kDigits[code >> 4], kDigits[code & 15]};
    return 2;
  }
  to += rest[0];
  return 1;
}

void PutQuoted(const std::string& text, std::string& to) {
  constexpr char kDigits[] = "0123456789abcdef";
  to += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) {
      i += PutWide(std::string_view(text).substr(i), to);
      continue;
    }
    const char escape = EscapeOf(c);
    if (escape != 0) {
      to += {'\\', escape};
    } else if (code < 0x20 || code == 0x7F) {
      to += {'\\', 'x', kDigits[code >> 4], kDigits[code & 15]};
    } else {
      to += c;
    }
    ++i;
  }
  to += '"';
}

}  // namespace

void BlockYaml::Begin() {
  const std::size_t indent =
      levels_.empty() ? 0 : levels_.back().indent + kIndent;
  levels_.push_back({.indent = indent, .opened = behind_});
}

void BlockYaml::End(const char* when_empty) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.is_empty) return;
  behind_ = level.opened;
  Plain(when_empty);
}

void BlockYaml::Key(const std::string& name) {
  Level& level = levels_.back();
  if (level.is_empty && level.opened == Behind::kDash) {
    text_ += ' ';  // the first key stands on the line of its dash
  } else {
    if (level.is_empty && level.opened == Behind::kKey) text_ += '\n';
    text_.append(level.indent, ' ');
  }
  level.is_empty = false;
  PutText(name);
  text_ += ':';
  behind_ = Behind::kKey;
}

void BlockYaml::Item() {
  Level& level = levels_.back();
  if (level.is_empty && level.opened != Behind::kNothing) text_ += '\n';
  level.is_empty = false;
  text_.append(level.indent, ' ');
  text_ += '-';
  behind_ = Behind::kDash;
}

void BlockYaml::Plain(std::string_view text) {
  if (behind_ != Behind::kNothing) text_ += ' ';
  text_.append(text).append("\n");
}

void BlockYaml::Text(const std::string& text) {
  if (behind_ != Behind::kNothing) text_ += ' ';
  PutText(text);
  text_ += '\n';
}

void BlockYaml::PutText(const std::string& text) {
  if (NeedsQuotes(text)) {
    PutQuoted(text, text_);
  } else {
    text_ += text;
  }
}

}  // namespace frostline::cli
