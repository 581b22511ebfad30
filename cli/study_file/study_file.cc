// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/study_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/term/text_file.h"
#include "study/freezing.h"

namespace frostline::cli {
namespace {

// The short form of the label by which a study asks for a worker's trainer.
constexpr char kTrainerKey[] = "trainer";

// Returns the keys that may be at the top of a file, including short forms.
std::vector<std::string> TopKeys() {
  std::vector<std::string> keys = {"id", kTrainerKey, kConstraintKey};
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

absl::Status ReadTrainer(const YamlEntry& entry, StudyFile* study) {
  const std::string path = absl::StrCat("required_worker_labels.", kTrainerKey);
  study->places[path] = entry.key_mark;
  if (entry.value->kind != YamlNode::Kind::kScalar ||
      entry.value->text.empty()) {
    return ErrorAt(ErrorId::kStudyFileSyntax, study->file, entry.value->mark,
                   absl::StrCat("trainer is ", Describe(*entry.value)),
                   "write one name, e.g. trainer: train.py", kTrainerKey);
  }
  (*study->settings.mutable_required_worker_labels())[kTrainerKey] =
      entry.value->text;
  return absl::OkStatus();
}

// The entries of the file, by the message that they belong to.
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
    } else if (entry.key == kTrainerKey) {
      RETURN_IF_ERROR(ReadTrainer(entry, study));
    } else if (IsObjectiveKey(entry.key) || entry.key == kConstraintKey ||
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
  ASSIGN_OR_RETURN(split.spec,
                   LongConstraints(std::move(split.spec), study->file));
  return split;
}

// Sorts rates and other levels: in which order a person lists them says
// nothing.
void SortLevels(v1::SearchSpace& space) {
  const auto sort = [](v1::Levels& levels) {
    std::sort(levels.mutable_rates()->begin(), levels.mutable_rates()->end());
  };
  const auto sort_ranks = [](v1::Ranks& ranks) {
    std::sort(ranks.mutable_ranks()->begin(), ranks.mutable_ranks()->end());
  };
  for (v1::ModuleSpace& module : *space.mutable_modules()) {
    if (module.has_levels()) sort(*module.mutable_levels());
    if (module.has_rank()) sort_ranks(*module.mutable_rank());
  }
  for (v1::Tie& tie : *space.mutable_ties()) {
    if (tie.has_levels()) sort(*tie.mutable_levels());
    if (tie.has_rank()) sort_ranks(*tie.mutable_rank());
  }
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

// Returns the next outer path: "a.b[1].c" -> "a.b[1]" -> "a.b" -> "a" -> "".
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
  SortLevels(*study.spec.mutable_space());
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

namespace {

// The size of an epoch in tokens (rows times length), so that long texts do not
// make a first search slow.
constexpr std::int64_t kTokensOfAnEpoch = 12'000;
constexpr std::int64_t kLeastRows = 200;
constexpr std::int64_t kMostRows = 2'000;
constexpr std::int64_t kHeldOut = 200;
constexpr std::int64_t kLongest = 128;
constexpr std::int64_t kStep = 8;  // of lengths
// The share of the largest class from which always guessing it is nearly right.
constexpr double kLopsided = 0.8;
constexpr std::int64_t kDeep = 12;  // layers; such models want lower rates

std::string StarterMetricOf(const StarterFacts& facts) {
  if (facts.task == "regression") return "rmse";
  if (facts.task == "tagging") return "f1";
  if (facts.task == "answers") return "loss";
  if (facts.task == "choices") return "accuracy";
  return facts.largest_class > kLopsided ? "f1_macro" : "accuracy";
}

std::int64_t LengthFor(const StarterFacts& facts) {
  const std::int64_t whole = (facts.text_tokens + kStep - 1) / kStep * kStep;
  return std::min({std::max(whole, 2 * kStep), kLongest, facts.longest_text});
}

// Returns the held-out share: a tenth to a fifth of a few rows; of many rows
// only as many as are needed to tell trials apart.
double HeldOutShare(std::int64_t rows) {
  const double share = static_cast<double>(kHeldOut) /
                       static_cast<double>(std::max<std::int64_t>(rows, 1));
  return std::min(share, 0.2);
}

std::int64_t RowsFor(const StarterFacts& facts, std::int64_t length) {
  const std::int64_t affordable =
      std::clamp(kTokensOfAnEpoch / length, kLeastRows, kMostRows);
  double left = static_cast<double>(facts.rows);
  if (!facts.has_validation) left *= 1.0 - HeldOutShare(facts.rows);
  return std::min(affordable, static_cast<std::int64_t>(left));
}

// Returns an id as YAML has it: in quotes where the word alone is nothing.
std::string YamlId(const std::string& id) {
  return absl::EqualsIgnoreCase(id, "null") ? absl::StrCat("\"", id, "\"") : id;
}

std::string DataText(const StarterFacts& facts, std::int64_t train_rows) {
  std::string text = absl::StrCat("data:\n  id: ", YamlId(facts.data),
                                  "\n  task: ", facts.task, "\n");
  if (!facts.has_validation) {
    absl::StrAppendFormat(
        &text, "  validation_share: %.3g           # of the training rows\n",
        HeldOutShare(facts.rows));
  }
  if (train_rows < facts.rows) {
    absl::StrAppend(&text, "  train_rows: ", train_rows,
                    "                 # a balanced sample, for a first look\n");
  }
  return text;
}

}  // namespace

StarterStudy WriteStarterStudy(const StarterFacts& facts) {
  StarterStudy study;
  study.metric = StarterMetricOf(facts);
  study.max_length = LengthFor(facts);
  study.train_rows = RowsFor(facts, study.max_length);
  if (!facts.has_validation) {
    study.held_out_rows = static_cast<std::int64_t>(std::llround(
        HeldOutShare(facts.rows) * static_cast<double>(facts.rows)));
  }
  const bool deep = facts.layers >= kDeep;
  study.text = absl::StrCat(
      "# Written by `frostline init`; what each line may say:\n"
      "# docs/reference/study-file.md. More trials and more rows tell more.\n"
      "id: ",
      YamlId(facts.id), "\nmodel: {id: ", YamlId(facts.model),
      ", layers: ", facts.layers,
      facts.has_pooler ? "}\n" : ", no_pooler: true}\n",
      DataText(facts, study.train_rows),
      study.metric == "rmse" || study.metric == "loss" ? "minimize: "
                                                       : "maximize: ",
      study.metric, "\nbudget: ", facts.trials,
      "\nseed: 1                         # with one slot the same study "
      "again\n",
      "sampler: auto                   # what suits this space and budget\n\n",
      "training:\n  epochs: 2\n  batch_size: 32\n  max_length: ",
      study.max_length,
      "                  # tokens; longer texts are cut\n"
      "  warmup_share: 0.1\n  evaluate_every_steps: 1000     # once, at the "
      "end\n  report_example_outcomes: true  # so trials compare row by row\n\n"
      "# 0 freezes a module; every other number is a learning rate.\n"
      "space:\n  modules:\n    embeddings: &rates ",
      deep ? "[0, 1e-5, 3e-5, 1e-4]" : "[0, 2e-5, 1e-4, 3e-4, 1e-3]",
      "\n    \"layer.*\": *rates\n  default: {head_only: ",
      deep ? "1e-4" : "1e-3", "}     # what is new to the task\n");
  return study;
}

std::string WhatItCanTell(const StarterFacts& facts,
                          const StarterStudy& study) {
  const std::int64_t needed = TrialsToTell(facts.layers + 1);
  std::string text =
      facts.trials < needed
          ? absl::StrCat(facts.trials,
                         " trials find good rates; which modules can stay "
                         "frozen takes about ",
                         needed, " (--trials ", needed, ")")
          : absl::StrCat(facts.trials,
                         " trials are enough to say which modules can stay "
                         "frozen");
  if (study.metric == "accuracy" && study.held_out_rows > 0) {
    // The normal approximation of a share's 95 % interval.
    constexpr double kUsual = 0.85;
    const double points =
        196.0 * std::sqrt(kUsual * (1.0 - kUsual) /
                          static_cast<double>(study.held_out_rows));
    absl::StrAppend(&text, absl::StrFormat("; on %d held-out rows an accuracy "
                                           "of %.2f is sure to %.0f points",
                                           study.held_out_rows, kUsual,
                                           std::max(points, 1.0)));
  }
  return text;
}

}  // namespace frostline::cli
