// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/field_path.h"

#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/contract/catalogue.h"
#include "cli/contract/schema_value.h"
#include "cli/study_file/objective_sugar.h"
#include "cli/study_file/yaml_sugar.h"
#include "frostline/v1/study.pb.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::size_t kMaxPathWord = 100;
constexpr std::size_t kMostOthers = 5;

// "study" stands for three messages, as its file has two at one level.
std::vector<const Descriptor*> RootMessages(const Descriptor& type) {
  if (&type != v1::Study::descriptor()) return {&type};
  return {v1::StudySpec::descriptor(), v1::StudySettings::descriptor(), &type};
}

bool IsCalled(const FieldDescriptor& field, const std::string& word) {
  const std::string name = LongKey(word, *field.containing_type());
  return absl::EqualsIgnoreCase(field.name(), name) ||
         absl::EqualsIgnoreCase(field.json_name(), name);
}

// The two messages whose fields are the keys of a study file.
std::vector<const Descriptor*> PartsOfFile() {
  return {v1::StudySpec::descriptor(), v1::StudySettings::descriptor()};
}

// People read a path off a study file, where "study" stands nowhere. With a
// capital a word is a message's name.
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

// A message within a message is written as a field is: "Hardware.Gpu".
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

// Searches level by level, so that what is nearest comes first. Of each message
// one place is enough, the nearest.
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

}  // namespace frostline::cli
