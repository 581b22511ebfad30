// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/yaml_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace frostline::cli {
namespace {

// yaml-cpp's tag of a scalar in quotes or as a block.
constexpr char kQuotedTag[] = "!";

}  // namespace

YamlMark MarkOf(const YAML::Mark& mark) {
  return {.line = mark.line + 1, .column = mark.column + 1};
}

void YamlBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (documents_++ == 0) return;
  Fail(MarkOf(mark), ErrorId::kStudyFileSyntax, "a second document starts",
       "keep one study in a file");
}

void YamlBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  auto node = std::make_shared<YamlNode>();
  node->mark = MarkOf(mark);
  Add(std::move(node), anchor);
}

void YamlBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag,
                           YAML::anchor_t anchor, const std::string& value) {
  auto node = std::make_shared<YamlNode>();
  node->kind = YamlNode::Kind::kScalar;
  node->mark = MarkOf(mark);
  node->text = value;
  node->quoted = tag == kQuotedTag;
  CheckTag(tag, node->mark);
  Add(std::move(node), anchor);
}

void YamlBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto found = anchors_.find(anchor);
  if (found != anchors_.end()) return Place(found->second);
  // Known to the parser, but not complete: it holds itself.
  Fail(MarkOf(mark), ErrorId::kStudyFileSyntax, "an alias inside its anchor",
       "write the value out");
}

void YamlBuilder::OnSequenceStart(const YAML::Mark& mark,
                                  const std::string& tag, YAML::anchor_t anchor,
                                  YAML::EmitterStyle::value) {
  Open(YamlNode::Kind::kList, mark, tag, anchor);
}

void YamlBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag,
                             YAML::anchor_t anchor, YAML::EmitterStyle::value) {
  Open(YamlNode::Kind::kMap, mark, tag, anchor);
}

void YamlBuilder::Fail(const YamlMark& mark, ErrorId id,
                       const std::string& cause, const std::string& fix) {
  if (error_.ok()) error_ = ErrorAt(id, file_, mark, cause, fix);
}

void YamlBuilder::CheckTag(const std::string& tag, const YamlMark& mark) {
  if (tag.empty() || tag == "?" || tag == kQuotedTag) return;
  Fail(mark, ErrorId::kStudyFileSyntax, absl::StrCat("the tag ", tag),
       "leave it out: the key says what its value is");
}

void YamlBuilder::Open(YamlNode::Kind kind, const YAML::Mark& mark,
                       const std::string& tag, YAML::anchor_t anchor) {
  Frame frame;
  frame.node = std::make_shared<YamlNode>();
  frame.node->kind = kind;
  frame.node->mark = MarkOf(mark);
  frame.anchor = anchor;
  CheckTag(tag, frame.node->mark);
  frames_.push_back(std::move(frame));
}

void YamlBuilder::Close() {
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  Add(frame.node, frame.anchor);
}

void YamlBuilder::Add(YamlPtr node, YAML::anchor_t anchor) {
  if (anchor != 0) anchors_[anchor] = node;
  Place(node);
}

void YamlBuilder::Place(const YamlPtr& node) {
  if (!error_.ok()) return;
  if (frames_.empty()) {
    if (root_ == nullptr) root_ = node;
    return;
  }
  Frame& frame = frames_.back();
  YamlNode& parent = *frame.node;
  if (parent.kind == YamlNode::Kind::kMap && frame.key == nullptr) {
    return TakeKey(&frame, node);
  }
  // An alias adds what it stands for, so a bomb is found before it goes off.
  parent.weight += node->weight;
  parent.height = std::max(parent.height, node->height + 1);
  if (parent.weight > kMaxYamlNodes || parent.height > kMaxYamlDepth) {
    return Fail(
        node->mark, ErrorId::kFieldTooLarge,
        absl::StrCat("with aliases written out there are over ", kMaxYamlNodes,
                     " values, or over ", kMaxYamlDepth, " levels"),
        "make the study smaller");
  }
  if (parent.kind == YamlNode::Kind::kList) {
    parent.items.push_back(node);
    return;
  }
  parent.entries.push_back({frame.key->text, frame.key->mark, node});
  frame.key = nullptr;
}

void YamlBuilder::TakeKey(Frame* frame, const YamlPtr& key) {
  frame->key = key;
  if (key->kind != YamlNode::Kind::kScalar) {
    return Fail(key->mark, ErrorId::kStudyFileSyntax,
                absl::StrCat(Describe(*key), " stands where a key should"),
                "write a key and a colon; quote words such as null");
  }
  const auto [first, is_new] = frame->seen.emplace(key->text, key->mark.line);
  if (is_new) return;
  Fail(key->mark, ErrorId::kStudyFileSyntax,
       absl::StrCat("the key ", Describe(*key),
                    " is given twice, first in line ", first->second),
       "keep one of the two");
}

}  // namespace frostline::cli
