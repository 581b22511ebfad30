// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "base/plain/shown.h"
#include "base/plain/text.h"
#include "base/plain/text_lines.h"
#include "base/plain/yaml_scalar.h"
#include "base/plain/yaml_subset.h"
#include "base/plain/yaml_text.h"

namespace frostline {
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
  // The lines from here on that are indented by `indent`.
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
      Expected<Done> taken =
          list ? TakeItem(node) : TakeMember(indent, depth, node);
      if (!taken.ok()) return taken.fault();
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

}  // namespace frostline
