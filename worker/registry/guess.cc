// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/guess.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/text.h"

namespace frostline::registry {
namespace {

using trainer::ColumnMap;
using trainer::TaskKind;
using trainer::TaskName;
using GuessedNames = std::vector<std::string>;

constexpr std::size_t kNamesShown = 12;
constexpr std::size_t kMostPlainClasses = 20;
constexpr double kTextLength = 20.0;  // bytes, where no name tells

const GuessedNames& UsualNames(const std::string& role) {
  static const auto* const kNames = new std::map<std::string, GuessedNames>{
      {"text", {"text",    "sentence",    "review",    "content", "comment",
                "message", "body",        "document",  "tweet",   "sentence1",
                "premise", "question1",   "text1",     "text_a",  "question",
                "title",   "description", "utterance", "query",   "input"}},
      {"label",
       {"label", "labels", "class", "category", "target", "sentiment",
        "polarity", "rating", "stars", "score", "intent", "topic", "gold_label",
        "y", "tag"}},
      {"words", {"words", "tokens", "form"}},
      {"tags", {"tags", "upos", "ner_tags", "pos_tags", "ner", "pos"}}};
  return kNames->at(role);
}

std::string ListOf(const TableLook& look) {
  std::string list;
  for (std::size_t i = 0; i < look.columns.size() && i < kNamesShown; ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ", Shown(look.columns[i].name));
  }
  return look.columns.size() > kNamesShown ? list + ", …" : list;
}

absl::Status Ask(const std::string& path, const TableLook& look,
                 const std::string& role, const std::string& what) {
  return MakeError(ErrorId::kTrainerMisuse,
                   absl::StrCat(path, ": which column holds ", what,
                                "? It has ", ListOf(look)),
                   absl::StrCat("name it: --", role, " COL"));
}

absl::Status CheckColumn(const std::string& path, const TableLook& look,
                         const std::string& role, const std::string& column) {
  if (look.Find(column) != nullptr) return absl::OkStatus();
  double number = ParseNumber(column).value_or(0.0);
  const bool counts = look.is_delimited && number >= 1.0 &&
                      number <= static_cast<double>(look.columns.size()) &&
                      std::trunc(number) == number;
  if (counts) return absl::OkStatus();
  GuessedNames names;
  for (const ColumnLook& known : look.columns) names.push_back(known.name);
  const std::string near = Nearest(column, names);
  return MakeError(ErrorId::kTrainerMismatch,
                   absl::StrCat(path, " has no column ", Shown(column),
                                "; it has ", ListOf(look)),
                   near.empty()
                       ? absl::StrCat("name one of these: --", role, " COL")
                       : absl::StrCat("did you mean --", role, " ", near, "?"));
}

const ColumnLook* ByName(const TableLook& look, const GuessedNames& usual,
                         const ColumnMap& taken) {
  for (const std::string& name : usual) {
    for (const ColumnLook& column : look.columns) {
      if (absl::AsciiStrToLower(column.name) != name) continue;
      const bool is_taken = std::any_of(
          taken.begin(), taken.end(),
          [&](const auto& entry) { return entry.second == column.name; });
      if (!is_taken) return &column;
    }
  }
  return nullptr;
}

double MeanLength(const ColumnLook& column) {
  double sum = 0.0;
  for (const std::string& value : column.values) {
    sum += static_cast<double>(value.size());
  }
  return column.values.empty()
             ? 0.0
             : sum / static_cast<double>(column.values.size());
}

// The one with by far the longest values.
const ColumnLook* LongTexts(const TableLook& look, const ColumnMap& taken) {
  const ColumnLook* best = nullptr;
  double longest = kTextLength;
  double next = 0.0;
  for (const ColumnLook& column : look.columns) {
    const double length = MeanLength(column);
    const bool is_taken =
        std::any_of(taken.begin(), taken.end(),
                    [&](const auto& e) { return e.second == column.name; });
    if (is_taken || length < longest) {
      next = std::max(next, is_taken ? 0.0 : length);
      continue;
    }
    next = best == nullptr ? next : longest;
    best = &column;
    longest = length;
  }
  return best != nullptr && longest >= 2.0 * next ? best : nullptr;
}

// The only one of few values.
const ColumnLook* FewValues(const TableLook& look, const ColumnMap& taken) {
  const ColumnLook* found = nullptr;
  for (const ColumnLook& column : look.columns) {
    const std::set<std::string> values(column.values.begin(),
                                       column.values.end());
    const bool is_taken =
        std::any_of(taken.begin(), taken.end(),
                    [&](const auto& e) { return e.second == column.name; });
    const bool few = values.size() > 1 && values.size() <= kMostPlainClasses &&
                     2 * values.size() <= column.values.size();
    if (is_taken || column.is_list || !few) continue;
    if (found != nullptr) return nullptr;
    found = &column;
  }
  return found;
}

void TakeGuess(const std::string& role, const ColumnLook* column,
               RoleGuess& out) {
  if (column == nullptr || out.columns.contains(role)) return;
  out.columns[role] = column->name;
  out.guessed.push_back(role);
}

void GuessSecond(const TableLook& look, RoleGuess& out) {
  static const auto* const kPairs =
      new std::vector<std::pair<std::string, std::string>>{
          {"sentence1", "sentence2"},
          {"premise", "hypothesis"},
          {"question1", "question2"},
          {"text1", "text2"},
          {"text_a", "text_b"}};
  for (const auto& [first, second] : *kPairs) {
    if (absl::AsciiStrToLower(out.columns["text"]) != first) continue;
    TakeGuess("second", ByName(look, {second}, out.columns), out);
  }
}

// Numbers with digits behind the point are no classes; of many whole numbers
// nobody can tell.
absl::StatusOr<TaskKind> KindOfLabels(const std::string& path,
                                      const ColumnLook* column) {
  if (column == nullptr) return TaskKind::kClassification;
  std::set<std::string> values;
  bool whole = true;
  for (const std::string& value : column->values) {
    const std::string text(absl::StripAsciiWhitespace(value));
    if (text.empty()) continue;
    const auto number = ParseNumber(text);
    if (!number) return TaskKind::kClassification;
    whole = whole && std::trunc(*number) == *number;
    values.insert(text);
  }
  if (!whole) return TaskKind::kRegression;
  if (values.size() <= kMostPlainClasses) return TaskKind::kClassification;
  return MakeError(
      ErrorId::kTrainerMisuse,
      absl::StrCat(path, ": ", Shown(column->name), " has ", values.size(),
                   " whole numbers in ", column->values.size(),
                   " rows: are they classes, or amounts?"),
      "say which: --task classification or --task regression");
}

bool IsOfWords(const TableLook& look, const ColumnMap& said) {
  if (said.contains("words") || said.contains("tags")) return true;
  if (said.contains("text") || said.contains("label")) return false;
  const ColumnLook* const words = ByName(look, UsualNames("words"), {});
  return words != nullptr && words->is_list;
}

absl::Status GuessTagging(const std::string& path, const TableLook& look,
                          Labels labels, RoleGuess& out) {
  out.task = {TaskKind::kTagging};
  TakeGuess("words", ByName(look, UsualNames("words"), out.columns), out);
  TakeGuess("tags", ByName(look, UsualNames("tags"), out.columns), out);
  if (!out.columns.contains("words")) return Ask(path, look, "words", "words");
  if (!out.columns.contains("tags") && labels == Labels::kNeeded) {
    return Ask(path, look, "tags", "the words' tags, as texts");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RoleGuess> GuessRoles(const std::string& path,
                                     const TableLook& look,
                                     const ColumnMap& said,
                                     const std::string& task, Labels labels) {
  for (const auto& [role, column] : said) {
    RETURN_IF_ERROR(CheckColumn(path, look, role, column));
  }
  RoleGuess out;
  out.columns = said;
  const auto named = trainer::ParseTaskName(task);
  if (!task.empty() && !named) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("--task is '", task, "'"),
                     "give classification, regression, tagging or pair");
  }
  if (named ? named->kind == TaskKind::kTagging : IsOfWords(look, said)) {
    RETURN_IF_ERROR(GuessTagging(path, look, labels, out));
    return out;
  }
  TakeGuess("text", ByName(look, UsualNames("text"), out.columns), out);
  TakeGuess("label", ByName(look, UsualNames("label"), out.columns), out);
  TakeGuess("text", LongTexts(look, out.columns), out);
  if (!out.columns.contains("text"))
    return Ask(path, look, "text", "the texts");
  if (labels == Labels::kNeeded) {
    TakeGuess("label", FewValues(look, out.columns), out);
  }
  if (!out.columns.contains("label") && labels == Labels::kNeeded) {
    return Ask(path, look, "label", "the labels");
  }
  // Of a trained model nobody knows whether it was trained on pairs.
  if (!named || named->pair || labels == Labels::kIfThere) {
    GuessSecond(look, out);
  }
  out.task.pair = out.columns.contains("second");
  if (named) {
    out.task = *named;
  } else {
    ASSIGN_OR_RETURN(out.task.kind,
                     KindOfLabels(path, look.Find(out.columns["label"])));
    if (out.task.kind == TaskKind::kRegression) out.task.pair = false;
  }
  return out;
}

}  // namespace frostline::registry
