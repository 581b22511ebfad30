// SPDX-License-Identifier: Apache-2.0
#include "base/plain/yaml_scalar.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/plain/number.h"
#include "base/plain/shown.h"
#include "base/plain/yaml_text.h"

namespace frostline {
namespace {

constexpr std::string_view kFlowEnds = ",]}";

// A text up to the next "," or bracket, or a quoted one.
Expected<YamlNode> TakeItem(std::string_view& rest, const YamlLine& line) {
  SkipBlanks(rest);
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.mark = line.MarkOf(rest);
  const bool quoted = rest.starts_with('"') || rest.starts_with('\'');
  std::string_view plain = rest.substr(0, rest.find_first_of(kFlowEnds));
  if (!quoted) rest.remove_prefix(plain.size());
  Expected<std::string> text = quoted ? TakeYamlQuoted(rest) : YamlPlain(plain);
  if (!text.ok()) return text.fault();
  node.text = std::move(text).value();
  SkipBlanks(rest);
  return node;
}

Expected<YamlNode> TakeFlow(std::string_view& rest, const YamlLine& line) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.mark = line.MarkOf(rest);
  const bool is_map = rest.front() == '{';
  const char close = is_map ? '}' : ']';
  const char open = rest.front();
  node.kind = is_map ? YamlNode::Kind::kMap : YamlNode::Kind::kList;
  rest.remove_prefix(1);
  SkipBlanks(rest);
  while (!rest.starts_with(close)) {
    std::string key;
    const YamlMark mark = line.MarkOf(rest);
    if (is_map) {
      Expected<std::string> taken = TakeKey(rest);
      if (!taken.ok()) return taken.fault();
      key = std::move(taken).value();
      if (node.Find(key) != nullptr) {
        return YamlFault("has the key " + Shown(key) + " twice",
                         "keep one of them");
      }
    }
    Expected<YamlNode> item = TakeItem(rest, line);
    if (!item.ok()) return item;
    if (is_map) {
      node.entries.push_back(
          {key, mark,
           std::make_shared<const YamlNode>(std::move(item).value())});
    } else {
      node.items.push_back(
          std::make_shared<const YamlNode>(std::move(item).value()));
    }
    if (rest.starts_with(',')) {
      rest.remove_prefix(1);
      SkipBlanks(rest);
    } else if (!rest.starts_with(close)) {
      return YamlNotClosed(open);
    }
  }
  rest.remove_prefix(1);
  return node;
}

}  // namespace

Expected<std::string> TakeKey(std::string_view& rest) {
  std::string key;
  if (rest.starts_with('"') || rest.starts_with('\'')) {
    Expected<std::string> quoted = TakeYamlQuoted(rest);
    if (!quoted.ok()) return quoted;
    key = std::move(quoted).value();
  } else {
    const std::size_t end = rest.find_first_of(":,[]{}\"'");
    key = std::string(Trimmed(rest.substr(0, end)));
    rest.remove_prefix(std::min(end, rest.size()));
  }
  const bool colon = rest == ":" || rest.starts_with(": ");
  if (key.empty() || !colon) {
    return YamlFault("is not 'key: value'",
                     "write a key, a colon, a blank and a value");
  }
  rest.remove_prefix(1);
  SkipBlanks(rest);
  return key;
}

Expected<YamlNode> ParseValue(std::string_view rest, const YamlLine& line) {
  SkipBlanks(rest);
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.mark = line.MarkOf(rest);
  if (rest.starts_with('[') || rest.starts_with('{')) {
    Expected<YamlNode> flow = TakeFlow(rest, line);
    if (!flow.ok()) return flow;
    node = std::move(flow).value();
  } else if (rest.starts_with('"') || rest.starts_with('\'')) {
    Expected<std::string> text = TakeYamlQuoted(rest);
    if (!text.ok()) return text.fault();
    node.text = std::move(text).value();
  } else {
    Expected<std::string> text = YamlPlain(rest);
    if (!text.ok()) return text.fault();
    node.text = std::move(text).value();
    return node;
  }
  SkipBlanks(rest);
  if (!rest.empty()) {
    return YamlFault("goes on behind a value: " + Shown(rest),
                     "put the whole value in quotes");
  }
  return node;
}

}  // namespace frostline
