// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/study_file.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "cli/study_file/objective_sugar.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/term/text_file.h"

namespace frostline::cli {
namespace {

// What may stand at the top of a file, short forms included.
std::vector<std::string> TopKeys() {
  std::vector<std::string> keys = {"id"};
  const std::vector<std::string> short_forms = ObjectiveKeys();
  keys.insert(keys.end(), short_forms.begin(), short_forms.end());
  for (const auto* type :
       {v1::StudySpec::descriptor(), v1::StudySettings::descriptor()}) {
    const std::vector<std::string> names = FieldNames(*type);
    keys.insert(keys.end(), names.begin(), names.end());
  }
  return keys;
}

absl::Status ReadId(const YamlEntry& entry, StudyFile* study) {
  study->places["study_id"] = entry.key_mark;
  if (entry.value->kind != YamlNode::Kind::kScalar) {
    return ErrorAt(ErrorId::kStudyFileSyntax, study->file, entry.value->mark,
                   absl::StrCat("id is ", Describe(*entry.value)),
                   "write one word, e.g. id: imdb", "id");
  }
  study->id = entry.value->text;
  const absl::Status valid = CheckId(study->id, "id");
  return valid.ok() ? valid : PlaceError(valid, *study);
}

// The entries of the file, by the message they belong to.
struct Split {
  std::vector<YamlEntry> spec;
  std::vector<YamlEntry> settings;
};

absl::StatusOr<Split> SplitEntries(const YamlNode& root, StudyFile* study) {
  Split split;
  for (const YamlEntry& entry : root.entries) {
    if (entry.key == "id") {
      study->places["id"] = entry.value->mark;
      RETURN_IF_ERROR(ReadId(entry, study));
    } else if (IsObjectiveKey(entry.key) ||
               v1::StudySpec::descriptor()->FindFieldByName(entry.key)) {
      split.spec.push_back(entry);
    } else if (v1::StudySettings::descriptor()->FindFieldByName(entry.key)) {
      split.settings.push_back(entry);
    } else {
      return ErrorAt(ErrorId::kStudyFieldUnknown, study->file, entry.key_mark,
                     absl::StrCat("unknown key '", entry.key, "' in the study"),
                     Suggest(entry.key, TopKeys()), entry.key);
    }
  }
  ASSIGN_OR_RETURN(split.spec,
                   LongObjectives(std::move(split.spec), study->file));
  return split;
}

absl::Status Missing(const YamlNode& root, const StudyFile& study,
                     const std::string& field, const std::string& example) {
  return ErrorAt(ErrorId::kStudyFieldMissing, study.file, root.mark,
                 absl::StrCat("the study has no ", field),
                 absl::StrCat("add a line such as ", example), field);
}

absl::Status CheckComplete(const YamlNode& root, const StudyFile& study) {
  if (study.spec.objectives_size() == 0) {
    return Missing(root, study, "objectives", "maximize: accuracy");
  }
  if (!study.spec.has_space()) {
    return Missing(root, study, "space",
                   "space: {modules: {\"layer.*\": [0, 2e-6, 2e-5]}}");
  }
  if (!study.settings.has_budget()) {
    return Missing(root, study, "budget", "budget: {trials: 200}");
  }
  return absl::OkStatus();
}

// "a.b[1].c" -> "a.b[1]" -> "a.b" -> "a" -> "".
std::string Outer(const std::string& path) {
  const std::size_t cut = path.find_last_of(".[");
  return cut == std::string::npos ? "" : path.substr(0, cut);
}

}  // namespace

absl::StatusOr<StudyFile> ParseStudyFile(const std::string& text,
                                         const std::string& file) {
  ASSIGN_OR_RETURN(const YamlPtr root, ParseYaml(text, file));
  return ReadStudyTree(root, file);
}

absl::StatusOr<StudyFile> ReadStudyTree(const YamlPtr& root,
                                        const std::string& file) {
  StudyFile study;
  study.file = file;
  if (root->kind != YamlNode::Kind::kMap) {
    return ErrorAt(
        ErrorId::kStudyFileSyntax, file, root->mark,
        absl::StrCat("the file holds ", Describe(*root), " instead of keys"),
        "start with a line such as maximize: accuracy");
  }
  ASSIGN_OR_RETURN(Split split, SplitEntries(*root, &study));
  const YamlToProto reader(study.file, &study.places);
  RETURN_IF_ERROR(
      reader.Fill(MapNode(std::move(split.spec), root->mark), "", &study.spec));
  RETURN_IF_ERROR(reader.Fill(MapNode(std::move(split.settings), root->mark),
                              "", &study.settings));
  RETURN_IF_ERROR(CheckComplete(*root, study));
  return study;
}

absl::StatusOr<StudyFile> ReadStudyFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMaxYamlBytes));
  const bool is_input = path == "-";
  ASSIGN_OR_RETURN(StudyFile study,
                   ParseStudyFile(text, is_input ? "stdin" : path));
  const std::string stem = std::filesystem::path(path).stem().string();
  if (study.id.empty() && !is_input && CheckId(stem, "id").ok()) {
    study.id = stem;
  }
  return study;
}

absl::Status PlaceError(const absl::Status& error, const StudyFile& study) {
  const auto detail = DetailOf(error);
  if (!detail.has_value()) return error;
  std::string path = detail->field;
  for (const char* const root : {"spec.", "settings."}) {
    if (absl::StartsWith(path, root))
      path = path.substr(std::string(root).size());
  }
  while (!path.empty() && study.places.count(path) == 0) path = Outer(path);
  if (path.empty()) return error;
  return ErrorAt(detail->id, study.file, study.places.at(path),
                 std::string(error.message()), detail->fix, detail->field);
}

}  // namespace frostline::cli
