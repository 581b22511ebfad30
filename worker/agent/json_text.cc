// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/json_text.h"

#include <limits>

namespace frostline::agent {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 8;
// -Infinity before Infinity, so that the sign is not left outside.
constexpr const char* kBareWords[] = {"-Infinity", "Infinity", "NaN"};

// Index just behind the string that starts at `text[begin]`, a quote.
std::size_t SkipString(const std::string& text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

const char* BareWordAt(const std::string& text, std::size_t i) {
  for (const char* word : kBareWords) {
    if (text.compare(i, std::char_traits<char>::length(word), word) == 0) {
      return word;
    }
  }
  return nullptr;
}

// Nothing when it nests too deep.
std::optional<std::string> QuoteBareWords(const std::string& text) {
  std::string quoted;
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMaxDepth) return std::nullopt;
    const char* const word = BareWordAt(text, i);
    std::size_t next = i + 1;
    if (c == '"') next = SkipString(text, i);
    if (word == nullptr) {
      quoted.append(text, i, next - i);
    } else {
      quoted.append("\"").append(word).append("\"");
      next = i + std::char_traits<char>::length(word);
    }
    i = next;
  }
  return quoted;
}

}  // namespace

std::optional<json> ParseJsonText(const std::string& text) {
  const auto quoted = QuoteBareWords(text);
  if (!quoted.has_value()) return std::nullopt;
  json value = json::parse(*quoted, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

std::string PrintJsonText(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<double> NumberOf(const json& value) {
  using Limits = std::numeric_limits<double>;
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return Limits::quiet_NaN();
  if (value == "Infinity") return Limits::infinity();
  if (value == "-Infinity") return -Limits::infinity();
  return std::nullopt;
}

}  // namespace frostline::agent
