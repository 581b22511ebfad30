// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/explain.h"

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/contract/catalogue.h"
#include "cli/contract/schema.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/term/table.h"
#include "frostline/v1/served.pb.h"
#include "frostline/v1/study.pb.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::size_t kMaxPathWord = 100;
constexpr std::size_t kMostOthers = 5;

// Returns the messages for a root. "study" gives three, because a study file
// has two messages at one level.
std::vector<const Descriptor*> RootMessages(const Descriptor& type) {
  if (&type != v1::Study::descriptor()) return {&type};
  return {v1::StudySpec::descriptor(), v1::StudySettings::descriptor(), &type};
}

bool IsCalled(const FieldDescriptor& field, const std::string& word) {
  const std::string name = LongKey(word, *field.containing_type());
  return absl::EqualsIgnoreCase(field.name(), name) ||
         absl::EqualsIgnoreCase(field.json_name(), name);
}

// Returns the two messages whose fields are the keys of a study file.
std::vector<const Descriptor*> PartsOfFile() {
  return {v1::StudySpec::descriptor(), v1::StudySettings::descriptor()};
}

// Returns whether a word is a key of a study file. People copy paths from such
// a file, where "study" does not appear. A word with a capital is the name of a
// message.
bool IsKeyOfFile(const std::string& word) {
  if (absl::AsciiStrToLower(word) != word) return false;
  if (IsObjectiveKey(word)) return true;
  for (const Descriptor* const part : PartsOfFile()) {
    for (int i = 0; i < part->field_count(); ++i) {
      if (IsCalled(*part->field(i), word)) return true;
    }
  }
  return false;
}

std::vector<std::string> NamesOfRoots() {
  std::vector<std::string> names = {"study", "trial"};
  for (const Descriptor* const part : PartsOfFile()) {
    for (int i = 0; i < part->field_count(); ++i) {
      names.push_back(part->field(i)->name());
    }
  }
  for (const Descriptor* const type : AllMessages()) {
    names.push_back(ShortNameOf(*type));
  }
  return names;
}

absl::StatusOr<FieldPlace> FindRoot(const std::string& word) {
  FieldPlace place;
  if (const Descriptor* const type = FindMessage(word)) {
    place.messages = RootMessages(*type);
    place.path = place.messages.size() > 1 ? "study" : ShortNameOf(*type);
    return place;
  }
  place.values = FindEnum(word);
  if (place.values != nullptr) {
    place.path = ShortNameOf(*place.values);
    return place;
  }
  const std::string near = Nearest(word, NamesOfRoots());
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("nothing is called '",
                                proto::CleanText(word, kMaxPathWord), "'"),
                   near.empty()
                       ? "begin with study, trial, a key of a study file, a "
                         "message such as StudySettings, or an error's "
                         "id (FL-2001)"
                       : absl::StrCat("did you mean '", near, "'?"));
}

void StepTo(const FieldDescriptor& field, const std::string& path,
            FieldPlace* place) {
  place->path = path;
  place->field = &field;
  place->values = field.enum_type();
  place->messages.clear();
  const Descriptor* const below = MessageBelow(field);
  if (below != nullptr) place->messages.push_back(below);
}

struct Visit {
  const Descriptor* type;
  std::string path;
};

// Steps to a message within a message, which is written like a field:
// "Hardware.Gpu".
std::optional<FieldPlace> StepToNested(const FieldPlace& from,
                                       const std::string& word) {
  for (const Descriptor* const type : from.messages) {
    const Descriptor* const nested = type->FindNestedTypeByName(word);
    if (from.field != nullptr || nested == nullptr) continue;
    FieldPlace place;
    place.path = ShortNameOf(*nested);
    place.messages = {nested};
    return place;
  }
  return std::nullopt;
}

// Searches level by level, so that the nearest place comes first. For each
// message it keeps only the nearest place.
absl::StatusOr<FieldPlace> Step(const FieldPlace& from,
                                const std::string& word) {
  if (auto nested = StepToNested(from, word)) return *std::move(nested);
  std::deque<Visit> open;
  std::set<const Descriptor*> seen;
  for (const Descriptor* const type : from.messages) {
    open.push_back({type, from.path});
    seen.insert(type);
  }
  FieldPlace found;
  std::vector<std::string> names;
  for (std::size_t at = 0; at < open.size(); ++at) {
    const Visit visit = open[at];
    const bool is_direct = at < from.messages.size();
    for (int i = 0; i < visit.type->field_count(); ++i) {
      const FieldDescriptor& field = *visit.type->field(i);
      const std::string path = absl::StrCat(visit.path, ".", field.name());
      if (is_direct) names.push_back(field.name());
      const Descriptor* const below = MessageBelow(field);
      if (below != nullptr && seen.insert(below).second) {
        open.push_back({below, path});
      }
      if (!IsCalled(field, word)) continue;
      if (found.field == nullptr) {
        StepTo(field, path, &found);
        if (is_direct) return found;
      } else if (found.others.size() < kMostOthers) {
        found.others.push_back(path);
      }
    }
  }
  if (found.field != nullptr) return found;
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(from.path, " has no field '",
                                proto::CleanText(word, kMaxPathWord), "'"),
                   names.empty()
                       ? absl::StrCat("`frostline explain ", from.path,
                                      "` is as far as it goes")
                       : Suggest(word, names));
}

}  // namespace

const Descriptor* MessageBelow(const FieldDescriptor& field) {
  const FieldDescriptor* const value =
      field.is_map() ? field.message_type()->map_value() : &field;
  const Descriptor* const type = value->message_type();
  return type == nullptr || IsGoogleType(*type) ? nullptr : type;
}

absl::StatusOr<FieldPlace> FindPlace(const std::string& path) {
  if (const auto* const type = FindEnum(path)) {
    FieldPlace place;
    place.path = ShortNameOf(*type);
    place.values = type;
    return place;
  }
  std::vector<std::string> words = absl::StrSplit(path, '.');
  const std::string& first = words.front();
  if (IsKeyOfFile(first.substr(0, first.find('[')))) {
    words.insert(words.begin(), "study");
  }
  ASSIGN_OR_RETURN(FieldPlace place, FindRoot(words.front()));
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string word = words[i].substr(0, words[i].find('['));
    const bool is_short = i == 1 && place.messages.size() > 1;
    if (is_short && IsObjectiveKey(word)) word = "objectives";
    ASSIGN_OR_RETURN(place, Step(place, word));
  }
  return place;
}

namespace {

using google::protobuf::EnumDescriptor;

std::string GoogleWord(const Descriptor& type) {
  if (type.name() == "Duration") return "time, such as 90s";
  if (type.name() == "Timestamp") return "point in time";
  if (type.name() == "ListValue") return "list of any values";
  if (type.name() == "Struct") return "map to any values";
  return type.name() == "Value" ? "any value" : type.name();
}

std::string ValueWord(const FieldDescriptor& field) {
  if (field.message_type() != nullptr) {
    const Descriptor& type = *field.message_type();
    return IsGoogleType(type) ? GoogleWord(type) : ShortNameOf(type);
  }
  if (field.enum_type() != nullptr) return ShortNameOf(*field.enum_type());
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES ? "bytes" : "text";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "number";
    default:
      return "whole number";
  }
}

std::string TypeWord(const FieldDescriptor& field) {
  if (field.is_map()) {
    return absl::StrCat("map to ",
                        ValueWord(*field.message_type()->map_value()));
  }
  return absl::StrCat(field.is_repeated() ? "list of " : "", ValueWord(field));
}

std::string Indented(const std::string& text, int blanks, int width) {
  const std::string lead(static_cast<std::size_t>(blanks), ' ');
  std::string lines;
  for (const auto& paragraph : absl::StrSplit(text, "\n\n")) {
    const std::string wrapped =
        WrapText(std::string(paragraph), width - blanks);
    for (const auto& line : absl::StrSplit(wrapped, '\n', absl::SkipEmpty())) {
      absl::StrAppend(&lines, lead, line, "\n");
    }
  }
  return lines;
}

std::string Marks(const FieldDescriptor& field) {
  std::string marks;
  if (const auto* const choice = field.real_containing_oneof()) {
    std::vector<std::string> names;
    for (int i = 0; i < choice->field_count(); ++i) {
      if (choice->field(i) != &field) names.push_back(choice->field(i)->name());
    }
    absl::StrAppend(&marks, "Not beside ", absl::StrJoin(names, ", "), ".\n\n");
  }
  if (field.options().HasExtension(v1::not_served)) {
    absl::StrAppend(&marks, "Not served yet; it comes with ",
                    field.options().GetExtension(v1::not_served), ".\n\n");
  }
  return marks;
}

std::string ShortForms(const Descriptor& type) {
  std::vector<std::string> forms;
  const std::string scalar = FieldOfScalar(type);
  if (!scalar.empty()) {
    forms.push_back(
        absl::StrCat("A value alone stands for {", scalar, ": value}."));
  }
  const std::string list = FieldOfList(type);
  if (!list.empty()) {
    forms.push_back(absl::StrCat("A list stands for {", list, ": list}."));
  }
  if (IsRange(type)) forms.push_back("[a, b] stands for {lo: a, hi: b}.");
  const std::string key = FieldOfKey(type);
  if (!key.empty()) {
    forms.push_back(
        absl::StrCat("Of several a map has the ", key, " of each as its key."));
  }
  return absl::StrJoin(forms, " ");
}

std::string Fields(const Descriptor& type, int width) {
  std::string text;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    absl::StrAppend(&text, "  ", field.name(), "  <", TypeWord(field), ">\n",
                    Indented(CommentOf(field), 6, width),
                    Indented(Marks(field), 6, width));
  }
  return text;
}

std::string Values(const EnumDescriptor& type, int width) {
  std::string text = "\nVALUES\n";
  for (int i = 0; i < type.value_count(); ++i) {
    const auto& value = *type.value(i);
    absl::StrAppend(&text, "  ",
                    value.number() == 0 ? "(left out)" : ShortName(value), "  ",
                    value.name(), "\n", Indented(CommentOf(value), 6, width));
  }
  return text;
}

// Returns the parts of a place. For "study" each part has its own heading.
std::string Parts(const FieldPlace& place, int width) {
  std::string text;
  const bool is_study = place.messages.size() > 1;
  for (const Descriptor* const type : place.messages) {
    const std::string words = is_study && type == place.messages.back()
                                  ? "in answers, not in files"
                                  : CommentOf(*type);
    const bool has_words = is_study || !words.empty();
    if (has_words && (place.field != nullptr || is_study)) {
      absl::StrAppend(
          &text, "\n",
          Indented(absl::StrCat(ShortNameOf(*type), ": ", words), 0, width));
    }
    const std::string forms = ShortForms(*type);
    if (!forms.empty()) {
      absl::StrAppend(&text, "\nIN A STUDY FILE\n", Indented(forms, 2, width));
    }
    absl::StrAppend(&text, "\nFIELDS\n", Fields(*type, width));
  }
  return text;
}

void AddTree(const Descriptor& type, int depth,
             std::set<const Descriptor*>* open, std::string* text) {
  if (!open->insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    absl::StrAppend(text, std::string(static_cast<std::size_t>(2 * depth), ' '),
                    field.name(), "  <", TypeWord(field), ">\n");
    const Descriptor* const below = MessageBelow(field);
    if (below != nullptr) AddTree(*below, depth + 1, open, text);
  }
  open->erase(&type);
}

}  // namespace

absl::StatusOr<std::string> ExplainPath(const std::string& path, int width) {
  ASSIGN_OR_RETURN(const FieldPlace place, FindPlace(path));
  std::string text = place.path;
  std::string words;
  if (place.field != nullptr) {
    absl::StrAppend(&text, "  <", TypeWord(*place.field), ">");
    words = absl::StrCat(CommentOf(*place.field), "\n\n", Marks(*place.field));
  } else if (place.messages.size() == 1) {
    words = CommentOf(*place.messages.front());
  } else if (place.values != nullptr) {
    words = CommentOf(*place.values);
  } else {
    words =
        "The keys of a study file are the fields of StudySpec and of "
        "StudySettings, at one level.";
  }
  const std::string said = Indented(words, 0, width);
  absl::StrAppend(&text, "\n", said.empty() ? "" : "\n", said);
  if (!place.others.empty()) {
    absl::StrAppend(&text, "\nALSO\n  ", absl::StrJoin(place.others, "\n  "),
                    "\n");
  }
  if (place.values != nullptr) text += Values(*place.values, width);
  return text + Parts(place, width);
}

absl::StatusOr<std::string> ExplainTree(const std::string& path) {
  ASSIGN_OR_RETURN(const FieldPlace place, FindPlace(path));
  std::string text = place.path + "\n";
  for (const Descriptor* const type : place.messages) {
    std::set<const Descriptor*> open;
    AddTree(*type, 1, &open, &text);
  }
  return text;
}

namespace {

constexpr std::size_t kMaxErrorWord = 100;

const ErrorKind* KindNamed(const std::string& id) {
  for (const ErrorKind& kind : AllErrorKinds()) {
    if (ErrorCode(kind.id) == id) return &kind;
  }
  return nullptr;
}

// Returns the text below the heading of an id, or "".
std::string SectionOf(const std::string& id) {
  const std::string pages = kErrorPages;
  const std::size_t heading = pages.find(absl::StrCat("\n### ", id, " "));
  if (heading == std::string::npos) return "";
  const std::size_t begin = pages.find('\n', heading + 1);
  const std::size_t end = pages.find("\n##", begin);
  return pages.substr(begin, end == std::string::npos ? end : end - begin);
}

// Breaks paragraphs for the terminal; code stays as it is.
std::string Page(const std::string& section, int width) {
  std::string page;
  bool in_code = false;
  for (const auto& part : absl::StrSplit(section, "\n\n")) {
    const std::string block(absl::StripAsciiWhitespace(part));
    if (block.empty()) continue;
    const bool is_code = in_code || absl::StartsWith(block, "```");
    if (absl::StartsWith(block, "```") != absl::EndsWith(block, "```")) {
      in_code = !in_code;
    }
    const bool keeps = is_code || absl::StartsWith(block, "- ") ||
                       absl::StartsWith(block, "|") ||
                       absl::StartsWith(part, "    ");
    absl::StrAppend(
        &page, "\n",
        keeps ? absl::StrCat(block, "\n")
              : WrapText(absl::StrReplaceAll(block, {{"\n", " "}}), width));
  }
  return page;
}

}  // namespace

bool IsErrorId(const std::string& word) {
  return absl::StartsWithIgnoreCase(word, "FL-");
}

absl::StatusOr<std::string> ExplainError(const std::string& id, int width) {
  const std::string name = absl::AsciiStrToUpper(id);
  const ErrorKind* const kind = KindNamed(name);
  if (kind == nullptr) {
    std::vector<std::string> names;
    for (const ErrorKind& known : AllErrorKinds()) {
      names.push_back(ErrorCode(known.id));
    }
    const std::string near = Nearest(name, names);
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("no error is called '",
                                  proto::CleanText(id, kMaxErrorWord), "'"),
                     near.empty()
                         ? "write the id in brackets of an error: FL-2001"
                         : absl::StrCat("did you mean '", near, "'?"));
  }
  const int code = ExitCodeOf(MakeError(kind->id, "", ""));
  return absl::StrCat(name, "  ", kind->reason, " (",
                      absl::StatusCodeToString(kind->code), ")\n",
                      Page(SectionOf(name), width), "\nExit code ", code,
                      "; `frostline help exit-codes` lists them.\n");
}

namespace {

// Writes a link as what it says and where that is: "[Exactly](a.md)" becomes
// "Exactly: docs/a.md".
std::string WithoutLinks(std::string text) {
  for (std::size_t at = text.find("]("); at != std::string::npos;
       at = text.find("](")) {
    const std::size_t open = text.rfind('[', at);
    const std::size_t close = text.find(')', at);
    if (open == std::string::npos || close == std::string::npos) break;
    const std::string words = text.substr(open + 1, at - open - 1);
    const std::string page = text.substr(at + 2, close - at - 2);
    text.replace(open, close - open + 1, absl::StrCat(words, ": docs/", page));
  }
  return text;
}

}  // namespace

std::string ExplainTerm(const std::string& word, int width) {
  const std::string begin =
      absl::StrCat("| *", absl::AsciiStrToLower(word), "* | ");
  for (const absl::string_view line : absl::StrSplit(kGlossary, '\n')) {
    if (!absl::StartsWith(line, begin)) continue;
    const absl::string_view meaning =
        absl::StripSuffix(line.substr(begin.size()), " |");
    return WrapText(WithoutLinks(std::string(meaning)), width);
  }
  return "";
}

}  // namespace frostline::cli
