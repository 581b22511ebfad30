// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_entries.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/study_file/yaml_sugar.h"

namespace frostline::cli {
namespace {

using Kind = YamlNode::Kind;
using Axis = std::vector<RecipeEntry>;

constexpr std::int64_t kMostSteps = 1'000;
constexpr std::size_t kMostEntries = 1'000;

absl::StatusOr<Axis> ReadAxis(const YamlPtr& node, const std::string& file) {
  Axis axis;
  for (const YamlEntry& entry : node->entries) {
    RecipeEntry& one = axis.emplace_back();
    one.names = {entry.key};
    if (entry.value->kind == Kind::kNull) continue;
    if (entry.value->kind != Kind::kMap) {
      return ErrorAt(ErrorId::kStudyFileSyntax, file, entry.value->mark,
                     absl::StrCat(entry.key, " is ", Describe(*entry.value)),
                     "write its values: english: {data: ewt}", "each");
    }
    for (const YamlEntry& value : entry.value->entries) {
      one.values[value.key] = value.value;
    }
  }
  if (!axis.empty()) return axis;
  return ErrorAt(ErrorId::kStudyFileSyntax, file, node->mark,
                 absl::StrCat("each is ", Describe(*node), " without entries"),
                 "write a map from names to values, or a list of such maps",
                 "each");
}

bool IsOf(const RecipeEntry& entry, const Replacement& wanted) {
  return entry.names[0] == wanted.id ||
         entry.values.at(wanted.key)->text == wanted.id;
}

Axis Replaced(Axis axis, const Replacement& wanted) {
  const bool concerns = std::all_of(
      axis.begin(), axis.end(), [&wanted](const RecipeEntry& entry) {
        const auto found = entry.values.find(wanted.key);
        return found != entry.values.end() &&
               found->second->kind == Kind::kScalar;
      });
  if (wanted.id.empty() || !concerns) return axis;
  Axis kept;
  for (const RecipeEntry& entry : axis) {
    if (IsOf(entry, wanted)) kept.push_back(entry);
  }
  if (!kept.empty()) return kept;
  RecipeEntry only = axis[0];
  only.names = {wanted.id};
  only.values[wanted.key] =
      ScalarNode(wanted.id, only.values[wanted.key]->mark);
  return {only};
}

absl::StatusOr<std::int64_t> WholeOf(const YamlPtr& range, const char* key,
                                     const std::string& file) {
  const YamlEntry* const entry = range->Find(key);
  std::int64_t number = 0;
  if (entry != nullptr && entry->value->kind == Kind::kScalar &&
      absl::SimpleAtoi(entry->value->text, &number)) {
    return number;
  }
  return ErrorAt(ErrorId::kStudyFileSyntax, file, range->mark,
                 absl::StrCat("the range has no whole number ", key),
                 "write {from: 1, to: 4}", "for");
}

absl::StatusOr<std::vector<YamlPtr>> StepsOf(const YamlPtr& node,
                                             const std::string& file) {
  if (node->kind == Kind::kList) return node->items;
  if (node->kind != Kind::kMap) {
    return ErrorAt(ErrorId::kStudyFileSyntax, file, node->mark,
                   absl::StrCat("for has ", Describe(*node)),
                   "write a list, or {from: 1, to: 4}", "for");
  }
  ASSIGN_OR_RETURN(const std::int64_t from, WholeOf(node, "from", file));
  ASSIGN_OR_RETURN(const std::int64_t to, WholeOf(node, "to", file));
  if (from > to || to - from >= kMostSteps) {
    return ErrorAt(ErrorId::kStudyFileSyntax, file, node->mark,
                   absl::StrCat("from ", from, " to ", to, " is no range"),
                   "let from be at most to, and both near", "for");
  }
  std::vector<YamlPtr> steps;
  steps.reserve(static_cast<std::size_t>(to - from + 1));
  for (std::int64_t i = from; i <= to; ++i) {
    steps.push_back(ScalarNode(absl::StrCat(i), node->mark));
  }
  return steps;
}

}  // namespace

absl::StatusOr<std::vector<RecipeEntry>> EntriesOfEach(
    const YamlPtr& each, const std::string& file,
    const std::vector<Replacement>& replacements) {
  std::vector<RecipeEntry> entries(1);
  if (each == nullptr) return entries;
  std::vector<YamlPtr> axes = {each};
  if (each->kind == Kind::kList) axes = each->items;
  for (const YamlPtr& node : axes) {
    ASSIGN_OR_RETURN(Axis axis, ReadAxis(node, file));
    for (const Replacement& wanted : replacements) {
      axis = Replaced(std::move(axis), wanted);
    }
    std::vector<RecipeEntry> combined;
    for (const RecipeEntry& so_far : entries) {
      for (const RecipeEntry& one : axis) {
        RecipeEntry& entry = combined.emplace_back(so_far);
        entry.names.push_back(one.names[0]);
        for (const auto& [key, value] : one.values) entry.values[key] = value;
      }
    }
    if (combined.size() > kMostEntries) {
      return ErrorAt(ErrorId::kFieldTooLarge, file, node->mark,
                     absl::StrCat("each makes ", combined.size(), " studies"),
                     absl::StrCat("let it make ", kMostEntries, " at most"),
                     "each");
    }
    entries = std::move(combined);
  }
  return entries;
}

absl::StatusOr<std::vector<RecipeValues>> EntriesOfFor(
    const YamlPtr& loop, const std::string& file) {
  std::vector<RecipeValues> entries(1);
  if (loop == nullptr) return entries;
  for (const YamlEntry& variable : loop->entries) {
    ASSIGN_OR_RETURN(const std::vector<YamlPtr> steps,
                     StepsOf(variable.value, file));
    std::vector<RecipeValues> combined;
    for (const RecipeValues& so_far : entries) {
      for (const YamlPtr& step : steps) {
        combined.emplace_back(so_far)[variable.key] = step;
      }
    }
    entries = std::move(combined);
  }
  return entries;
}

}  // namespace frostline::cli
