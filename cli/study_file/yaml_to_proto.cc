// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/yaml_to_proto.h"

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/struct.pb.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/text.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/term/table.h"
#include "proto/wire_error.h"

namespace frostline::cli {

// The parser cannot be stopped from here, so everything after the first mistake
// is ignored.

YamlMark MarkOf(const YAML::Mark& mark);

class YamlBuilder final : public YAML::EventHandler {
 public:
  // `file` must outlive the builder.
  explicit YamlBuilder(const std::string& file) : file_(file) {}

  const absl::Status& error() const { return error_; }
  // It is null when the document was empty.
  const YamlPtr& root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    std::shared_ptr<YamlNode> node;
    YAML::anchor_t anchor = 0;
    YamlPtr key;                      // of a map: read, its value not yet
    std::map<std::string, int> seen;  // keys of a map, with their lines
  };

  void Fail(const YamlMark& mark, ErrorId id, const std::string& cause,
            const std::string& fix);
  void CheckTag(const std::string& tag, const YamlMark& mark);
  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor);
  void Close();
  void Add(YamlPtr node, YAML::anchor_t anchor);
  void Place(const YamlPtr& node);
  void TakeKey(Frame* frame, const YamlPtr& key);

  const std::string& file_;
  absl::Status error_;
  YamlPtr root_;
  int documents_ = 0;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, YamlPtr> anchors_;
};

namespace {

constexpr std::size_t kMaxQuotedBytes = 60;

absl::Status CheckText(const std::string& text, const std::string& file) {
  if (text.size() > kMaxYamlBytes) {
    return ErrorAt(ErrorId::kFieldTooLarge, file, {},
                   absl::StrCat("the file has ", text.size(),
                                " bytes; the limit is ", kMaxYamlBytes),
                   "a study is a few kilobytes: is this the right file?");
  }
  const auto broken = FirstInvalidByte(text);
  const std::size_t zero = text.find('\0');
  if (!broken.has_value() && zero == std::string::npos) return absl::OkStatus();
  const std::size_t at = std::min(broken.value_or(text.size()), zero);
  const std::string before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return ErrorAt(
      ErrorId::kStudyFileSyntax, file,
      {static_cast<int>(lines) + 1, DisplayWidth(before.substr(start)) + 1},
      "a byte that is no UTF-8 text", "save the file as UTF-8 text");
}

// Returns the last line up to `line` that is indented with a tab. yaml-cpp
// takes the tab for a blank between words and fails at the text after it.
std::optional<int> TabbedLine(const std::string& text, int line) {
  std::istringstream lines(text);
  std::optional<int> found;
  std::string one;
  for (int i = 1; i <= line && std::getline(lines, one); ++i) {
    const std::size_t word = one.find_first_not_of(" \t");
    if (one.substr(0, word).find('\t') != std::string::npos) found = i;
  }
  return found;
}

// Returns a syntax error. yaml-cpp speaks in terms of its grammar, so common
// mistakes get plain words.
absl::Status SyntaxError(const std::string& text, const std::string& file,
                         const YAML::Exception& error) {
  std::string cause = error.msg;
  std::string fix = "correct the YAML at this place";
  YamlMark mark = MarkOf(error.mark);
  const std::optional<int> tab = TabbedLine(text, mark.line);
  if (tab.has_value()) {
    mark = {*tab, 1};
    cause = "a tab cannot indent in YAML";
    fix = "indent with blanks";
  } else if (absl::StrContains(cause, "end of map flow")) {
    cause = "a { is not closed";
    fix = "close it with }; is the file cut off?";
  } else if (absl::StrContains(cause, "end of sequence flow")) {
    cause = "a [ is not closed";
    fix = "close it with ]; is the file cut off?";
  }
  return ErrorAt(ErrorId::kStudyFileSyntax, file, mark, cause, fix);
}

}  // namespace

absl::Status ErrorAt(ErrorId id, const std::string& file, const YamlMark& mark,
                     const std::string& cause, const std::string& fix,
                     const std::string& field) {
  return MakeError(
      id, absl::StrCat(file, ":", mark.line, ":", mark.column, ": ", cause),
      fix, field);
}

std::string Describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kScalar:
      break;
  }
  return absl::StrCat("'", proto::CleanText(node.text, kMaxQuotedBytes), "'");
}

absl::StatusOr<YamlPtr> ParseYaml(const std::string& text,
                                  const std::string& file) {
  RETURN_IF_ERROR(CheckText(text, file));
  YamlBuilder builder(file);
  std::istringstream stream(text);
  // yaml-cpp throws; it ends here.
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    RETURN_IF_ERROR(builder.error());  // an earlier mistake explains more
    return SyntaxError(text, file, error);
  }
  RETURN_IF_ERROR(builder.error());
  if (builder.root() == nullptr) {
    return ErrorAt(ErrorId::kStudyFileSyntax, file, {}, "the file is empty",
                   "see docs/reference/study-file.md for an example");
  }
  return builder.root();
}

namespace {

// yaml-cpp's tag of a quoted scalar or of a block.
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

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Kind = YamlNode::Kind;
using Result = std::optional<Wanted>;

Result PutString(const YamlNode& node, const FieldDescriptor* field,
                 Message* message) {
  const auto* const reflection = message->GetReflection();
  if (field->is_repeated()) {
    reflection->AddString(message, field, node.text);
  } else {
    reflection->SetString(message, field, node.text);
  }
  return std::nullopt;
}

Result PutEnum(const YamlNode& node, const FieldDescriptor* field,
               Message* message) {
  const auto* const value = ReadEnum(node.text, *field->enum_type());
  if (value != nullptr) {
    message->GetReflection()->SetEnum(message, field, value);
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (int i = 0; i < field->enum_type()->value_count(); ++i) {
    const auto* const known = field->enum_type()->value(i);
    if (known->number() != 0) names.push_back(ShortName(*known));
  }
  return Wanted{absl::StrCat("a ", field->enum_type()->name()),
                Suggest(node.text, names)};
}

// Sets an integer. The only lists of integers in the contract are of uint64 and
// of int32.
bool PutInteger(const std::string& text, const FieldDescriptor* field,
                Message* message) {
  const auto* const reflection = message->GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    const auto value = ReadUint(text);
    if (value && field->is_repeated()) {
      reflection->AddUInt64(message, field, *value);
    } else if (value) {
      reflection->SetUInt64(message, field, *value);
    }
    return value.has_value();
  }
  const auto value = ReadInt(text);
  if (!value) return false;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    reflection->SetInt64(message, field, *value);
    return true;
  }
  if (*value < std::numeric_limits<std::int32_t>::min() ||
      *value > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  const auto small = static_cast<std::int32_t>(*value);
  if (field->is_repeated()) {
    reflection->AddInt32(message, field, small);
  } else {
    reflection->SetInt32(message, field, small);
  }
  return true;
}

Result PutBool(const YamlNode& node, const FieldDescriptor* field,
               Message* message) {
  const auto value = node.quoted ? std::nullopt : ReadBool(node.text);
  if (!value) return Wanted{"true or false", "write true or false"};
  message->GetReflection()->SetBool(message, field, *value);
  return std::nullopt;
}

Result PutDouble(const YamlNode& node, const FieldDescriptor* field,
                 Message* message) {
  const bool frozen = node.text == "frozen" && MayBeFrozen(*field);
  const auto value =
      frozen ? std::optional<double>(0.0) : ReadDouble(node.text);
  if (node.quoted || !value) {
    return Wanted{"a finite number", "write it without quotes, e.g. 2e-5"};
  }
  const auto* const reflection = message->GetReflection();
  if (field->is_repeated()) {
    reflection->AddDouble(message, field, *value);
  } else {
    reflection->SetDouble(message, field, *value);
  }
  return std::nullopt;
}

}  // namespace

Result PutScalar(const YamlNode& node, const FieldDescriptor* field,
                 Message* message) {
  if (node.kind != Kind::kScalar) {
    return Wanted{"a single value", node.kind == Kind::kNull
                                        ? "give it a value or remove the key"
                                        : "write one value"};
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return PutString(node, field, message);
    case FieldDescriptor::CPPTYPE_ENUM:
      return PutEnum(node, field, message);
    case FieldDescriptor::CPPTYPE_BOOL:
      return PutBool(node, field, message);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return PutDouble(node, field, message);
    default:
      break;
  }
  if (!node.quoted && PutInteger(node.text, field, message)) {
    return std::nullopt;
  }
  return Wanted{"a whole number in range",
                "write digits without quotes, e.g. 200"};
}

bool IsWellKnown(const google::protobuf::Descriptor& type) {
  return &type == google::protobuf::Duration::descriptor() ||
         &type == google::protobuf::Value::descriptor() ||
         &type == google::protobuf::ListValue::descriptor() ||
         &type == google::protobuf::Struct::descriptor();
}

Result PutWellKnown(const YamlNode& node, Message* message) {
  if (auto* const list = dynamic_cast<google::protobuf::ListValue*>(message)) {
    if (node.kind != Kind::kList) return Wanted{"a list", "write [ … ]"};
    *list = ReadAny(node).list_value();
  } else if (auto* const map =
                 dynamic_cast<google::protobuf::Struct*>(message)) {
    if (node.kind != Kind::kMap) return Wanted{"a map", "write {key: value}"};
    *map = ReadAny(node).struct_value();
  } else if (auto* const time =
                 dynamic_cast<google::protobuf::Duration*>(message)) {
    const auto value =
        node.kind == Kind::kScalar ? ReadDuration(node.text) : std::nullopt;
    if (!value) {
      return Wanted{"a time", "write it like 60s, 1h30m or 500ms"};
    }
    *time = *value;
  } else {
    *dynamic_cast<google::protobuf::Value*>(message) = ReadAny(node);
  }
  return std::nullopt;
}

namespace {

using google::protobuf::Descriptor;

std::string Below(const std::string& path, const std::string& key) {
  return path.empty() ? key : absl::StrCat(path, ".", key);
}

}  // namespace

std::vector<std::string> FieldNames(const Descriptor& message) {
  std::vector<std::string> names;
  for (int i = 0; i < message.field_count(); ++i) {
    names.push_back(message.field(i)->name());
  }
  return names;
}

absl::Status YamlToProto::Expected(const YamlNode& node,
                                   const std::string& path,
                                   const Wanted& wanted) const {
  return ErrorAt(
      ErrorId::kStudyFileSyntax, file_, node.mark,
      absl::StrCat(path.empty() ? "the study" : path, " is ", Describe(node),
                   node.quoted ? " in quotes" : "", ", not ", wanted.what),
      wanted.fix, path);
}

absl::Status YamlToProto::Twice(const YamlEntry& entry,
                                const std::string& other,
                                const std::string& path) const {
  return ErrorAt(ErrorId::kStudyFileSyntax, file_, entry.key_mark,
                 absl::StrCat("'", entry.key, "' stands beside '", other,
                              "', which says the same thing"),
                 "keep one of the two", path);
}

absl::Status YamlToProto::Fill(const YamlPtr& node, const std::string& path,
                               Message* message) const {
  const Descriptor& type = *message->GetDescriptor();
  const YamlPtr full = LongForm(node, type);
  if (full->kind != Kind::kMap) {
    return Expected(*full, path,
                    {absl::StrCat("a map that describes a ", type.name()),
                     Suggest("", FieldNames(type))});
  }
  std::set<const FieldDescriptor*> seen;
  for (const YamlEntry& entry : full->entries) {
    const FieldDescriptor* const field =
        type.FindFieldByName(LongKey(entry.key, type));
    const std::string at = Below(path, entry.key);
    if (field == nullptr) {
      return ErrorAt(ErrorId::kStudyFieldUnknown, file_, entry.key_mark,
                     absl::StrCat("unknown key '", entry.key, "' in ",
                                  path.empty() ? "the study" : path),
                     Suggest(entry.key, FieldNames(type)), at);
    }
    if (!seen.insert(field).second) {
      return Twice(entry, field->name(), at);
    }
    RETURN_IF_ERROR(
        FillField(entry, Below(path, field->name()), field, message));
  }
  return absl::OkStatus();
}

absl::Status YamlToProto::FillField(const YamlEntry& entry,
                                    const std::string& path,
                                    const FieldDescriptor* field,
                                    Message* message) const {
  const auto* reflection = message->GetReflection();
  const auto* choice = field->real_containing_oneof();
  const FieldDescriptor* const other =
      choice == nullptr ? nullptr
                        : reflection->GetOneofFieldDescriptor(*message, choice);
  if (other != nullptr) return Twice(entry, other->name(), path);
  places_->emplace(path, entry.key_mark);
  if (field->is_map()) return FillMap(entry.value, path, field, message);
  if (field->is_repeated()) return FillList(entry.value, path, field, message);
  return FillValue(entry.value, path, field, message);
}

absl::Status YamlToProto::FillList(const YamlPtr& node, const std::string& path,
                                   const FieldDescriptor* field,
                                   Message* message) const {
  const YamlPtr list = field->message_type() == nullptr
                           ? node
                           : LongList(node, *field->message_type());
  if (list->kind != Kind::kList) {
    return Expected(
        *list, path,
        {"a list", absl::StrCat("write ", field->name(), ": [ … ]")});
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string at = absl::StrCat(path, "[", i, "]");
    places_->emplace(at, list->items[i]->mark);
    RETURN_IF_ERROR(FillValue(list->items[i], at, field, message));
  }
  return absl::OkStatus();
}

absl::Status YamlToProto::FillMap(const YamlPtr& node, const std::string& path,
                                  const FieldDescriptor* field,
                                  Message* message) const {
  if (node->kind != Kind::kMap) {
    return Expected(
        *node, path,
        {"a map", absl::StrCat("write ", field->name(), ": {key: value}")});
  }
  const FieldDescriptor* const key = field->message_type()->map_key();
  const FieldDescriptor* const value = field->message_type()->map_value();
  for (const YamlEntry& entry : node->entries) {
    const std::string at = Below(path, entry.key);
    places_->emplace(at, entry.key_mark);
    Message* const pair = message->GetReflection()->AddMessage(message, field);
    pair->GetReflection()->SetString(pair, key, entry.key);
    RETURN_IF_ERROR(FillValue(entry.value, at, value, pair));
  }
  return absl::OkStatus();
}

absl::Status YamlToProto::FillValue(const YamlPtr& node,
                                    const std::string& path,
                                    const FieldDescriptor* field,
                                    Message* message) const {
  std::optional<Wanted> wanted;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    const auto* const reflection = message->GetReflection();
    Message* const value = field->is_repeated()
                               ? reflection->AddMessage(message, field)
                               : reflection->MutableMessage(message, field);
    if (!IsWellKnown(*field->message_type())) return Fill(node, path, value);
    wanted = PutWellKnown(*node, value);
  } else {
    wanted = PutScalar(*node, field, message);
  }
  if (!wanted.has_value()) return absl::OkStatus();
  return Expected(*node, path, *wanted);
}

}  // namespace frostline::cli
