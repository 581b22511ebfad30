// SPDX-License-Identifier: Apache-2.0
#include "base/plain/yaml.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/plain/text.h"

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
      // A quote within a word is a letter, as in "don't".
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

namespace {

constexpr std::size_t kMaxBlockDepth = 8;

struct Line {
  int number;
  std::size_t indent;
  std::string_view content;

  YamlLine place() const { return {number, content.data() - indent}; }
  YamlMark mark() const { return place().MarkOf(content); }
};

class YamlParser {
 public:
  explicit YamlParser(std::string name) : name_(std::move(name)) {}

  Expected<YamlNode> Run(std::string_view text) {
    int number = 0;
    bool tabs = false;
    ForEachLine(text, [&](std::string_view line) {
      ++number;
      const std::string_view content = WithoutComment(line);
      if (content.empty() || (lines_.empty() && content == "---")) return true;
      const std::size_t indent = content.find_first_not_of(' ');
      tabs = indent < content.size() && content[indent] == '\t';
      lines_.push_back({number, indent, content.substr(indent)});
      return !tabs;
    });
    if (tabs) {
      return At({.line = number, .column = 1},
                YamlFault("is indented with a tab", "use blanks"));
    }
    if (lines_.empty()) {
      return Fault{FaultKind::kSyntax, name_ + ": is empty",
                   "write at least one entry"};
    }
    Expected<YamlNode> root = Block(lines_[0].indent, 0);
    if (root.ok() && at_ < lines_.size()) return Indented();
    return root;
  }

 private:
  // Reads the lines from here on that are indented by `indent`.
  Expected<YamlNode> Block(std::size_t indent, std::size_t depth) {
    YamlNode node;
    node.mark = lines_[at_].mark();
    if (depth > kMaxBlockDepth) {
      return At(node.mark, YamlFault("is nested too deep", "nest less"));
    }
    const bool list = IsItem(lines_[at_]);
    node.kind = list ? YamlNode::Kind::kList : YamlNode::Kind::kMap;
    while (at_ < lines_.size() && lines_[at_].indent >= indent) {
      if (lines_[at_].indent > indent || IsItem(lines_[at_]) != list) {
        return Indented();
      }
      RETURN_IF_FAULT(list ? TakeItem(node) : TakeMember(indent, depth, node));
    }
    return node;
  }

  Expected<Done> TakeItem(YamlNode& node) {
    const Line& line = lines_[at_++];
    const std::string_view rest = line.content.substr(1);
    Expected<YamlNode> item = ParseValue(rest, line.place());
    if (!item.ok()) return At(line.place().MarkOf(rest), item.fault());
    node.items.push_back(
        std::make_shared<const YamlNode>(std::move(item).value()));
    return Done{};
  }

  Expected<Done> TakeMember(std::size_t indent, std::size_t depth,
                            YamlNode& node) {
    const Line& line = lines_[at_++];
    std::string_view rest = line.content;
    Expected<std::string> key = TakeKey(rest);
    if (!key.ok()) return At(line.mark(), key.fault());
    if (node.Find(key.value()) != nullptr) {
      return At(line.mark(),
                YamlFault("has the key " + Shown(key.value()) + " again",
                          "keep one of the two"));
    }
    const bool deeper =
        rest.empty() && at_ < lines_.size() && lines_[at_].indent > indent;
    Expected<YamlNode> value = deeper ? Block(lines_[at_].indent, depth + 1)
                                      : ParseValue(rest, line.place());
    if (!value.ok()) {
      return deeper ? value.fault()
                    : At(line.place().MarkOf(rest), value.fault());
    }
    node.entries.push_back(
        {std::move(key).value(), line.mark(),
         std::make_shared<const YamlNode>(std::move(value).value())});
    return Done{};
  }

  static bool IsItem(const Line& line) {
    return line.content == "-" || line.content.starts_with("- ");
  }

  Fault Indented() const {
    return At(lines_[at_].mark(),
              YamlFault("is indented as nothing before it is",
                        "give what belongs together the same indentation"));
  }

  Fault At(const YamlMark& mark, Fault fault) const {
    fault.cause = name_ + " line " + std::to_string(mark.line) + " column " +
                  std::to_string(mark.column) + ": " + fault.cause;
    return fault;
  }

  std::string name_;
  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

}  // namespace

Expected<YamlNode> ParseYamlSubset(std::string_view text,
                                   const std::string& name) {
  if (text.size() > kMaxYamlBytes) {
    return Fault{FaultKind::kTooLarge, name + ": is larger than 1 MiB",
                 "name the right file, or make this one smaller"};
  }
  if (!IsValidUtf8(text) || text.find('\0') != std::string_view::npos) {
    return Fault{FaultKind::kSyntax, name + ": is not UTF-8 text",
                 "write it in UTF-8"};
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return YamlParser(name).Run(text);
}

namespace {

constexpr std::string_view kFlowEnds = ",]}";

// Takes a text up to the next "," or bracket, or a quoted one.
Expected<YamlNode> TakeItem(std::string_view& rest, const YamlLine& line) {
  SkipBlanks(rest);
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.mark = line.MarkOf(rest);
  const bool quoted = rest.starts_with('"') || rest.starts_with('\'');
  std::string_view plain = rest.substr(0, rest.find_first_of(kFlowEnds));
  if (!quoted) rest.remove_prefix(plain.size());
  ASSIGN_OR_FAULT(std::string text,
                  quoted ? TakeYamlQuoted(rest) : YamlPlain(plain));
  node.text = std::move(text);
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
      ASSIGN_OR_FAULT(std::string taken, TakeKey(rest));
      key = std::move(taken);
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
    ASSIGN_OR_FAULT(std::string text, TakeYamlQuoted(rest));
    node.text = std::move(text);
  } else {
    ASSIGN_OR_FAULT(std::string text, YamlPlain(rest));
    node.text = std::move(text);
    return node;
  }
  SkipBlanks(rest);
  if (!rest.empty()) {
    return YamlFault("goes on behind a value: " + Shown(rest),
                     "put the whole value in quotes");
  }
  return node;
}

YamlFields::YamlFields(const YamlNode& node, std::string file,
                       std::string where)
    : node_(node), file_(std::move(file)), where_(std::move(where)) {
  if (node_.kind != YamlNode::Kind::kMap) {
    Fail(node_.mark, "is no block of keys",
         "write its keys below it, indented");
  }
}

void YamlFields::Fail(const YamlMark& mark, const std::string& what,
                      const std::string& fix) {
  if (fault_) return;
  fault_ = Fault{FaultKind::kInconsistent,
                 file_ + " line " + std::to_string(mark.line) + " column " +
                     std::to_string(mark.column) + ": " + where_ + ": " + what,
                 fix};
}

const YamlNode* YamlFields::Find(std::string_view key, YamlNode::Kind kind,
                                 const std::string& form) {
  const YamlEntry* entry = node_.Find(key);
  if (entry == nullptr) return nullptr;
  const YamlNode* found = entry->value.get();
  if (found->kind == kind) return found;
  Fail(found->mark, std::string(key) + " has another form",
       "write it as " + form);
  return nullptr;
}

std::string YamlFields::Demand(std::string_view key) {
  std::optional<std::string> text = Text(key);
  if (!text) Fail(node_.mark, "lacks " + std::string(key), "add it");
  return text.value_or("");
}

std::optional<std::string> YamlFields::Text(std::string_view key) {
  const YamlNode* found =
      Find(key, YamlNode::Kind::kScalar, std::string(key) + ": a text");
  if (found == nullptr) return std::nullopt;
  return found->text;
}

std::optional<bool> YamlFields::Bool(std::string_view key) {
  const std::optional<std::string> text = Text(key);
  if (!text) return std::nullopt;
  if (*text != "true" && *text != "false") {
    Fail(node_.Find(key)->value->mark,
         std::string(key) + " is " + Shown(*text) + ", neither true nor false",
         "write true or false");
  }
  return *text == "true";
}

std::vector<std::string> YamlFields::Words(std::string_view key) {
  std::vector<std::string> words;
  const YamlNode* found =
      Find(key, YamlNode::Kind::kList, "a list: [one, two]");
  if (found == nullptr) return words;
  for (const YamlPtr& item : found->items) {
    if (item->kind != YamlNode::Kind::kScalar) {
      Fail(item->mark, std::string(key) + " holds more than texts",
           "write a list of texts: [one, two]");
    }
    words.push_back(item->text);
  }
  return words;
}

std::map<std::string, std::string> YamlFields::Pairs(std::string_view key) {
  std::map<std::string, std::string> pairs;
  const YamlNode* found = Map(key);
  if (found == nullptr) return pairs;
  for (const auto& [name, mark, value] : found->entries) {
    if (value->kind != YamlNode::Kind::kScalar) {
      Fail(mark, std::string(key) + "." + name + " is no text",
           "write pairs of texts: {text: sentence}");
    }
    pairs[name] = value->text;
  }
  return pairs;
}

const YamlNode* YamlFields::Map(std::string_view key) {
  return Find(key, YamlNode::Kind::kMap, "a block of keys");
}

void YamlFields::KnowOnly(std::initializer_list<std::string_view> keys) {
  for (const auto& [name, mark, value] : node_.entries) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    std::string known;
    for (const std::string_view key : keys) {
      known += (known.empty() ? "" : ", ") + std::string(key);
    }
    Fail(mark, "has an unknown key " + Shown(name), "known are " + known);
  }
}

}  // namespace frostline
