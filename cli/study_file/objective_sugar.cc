// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/objective_sugar.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/study_file/yaml_sugar.h"

namespace frostline::cli {
namespace {

constexpr char kLongKey[] = "objectives";

// Metrics whose better side nobody disputes. Empty: not one of them.
std::string KnownDirection(const std::string& metric) {
  static const auto* const kHigher = new std::set<std::string>{
      "accuracy", "auc",      "bleu",  "f1",      "macro_f1",
      "matthews", "mcc",      "r2",    "pearson", "precision",
      "recall",   "spearman", "rouge", "map",     "macro_auc"};
  static const auto* const kLower = new std::set<std::string>{
      "error",          "loss",       "mae",           "mse",      "perplexity",
      "rmse",           "train_loss", "train_seconds", "val_loss", "error_rate",
      "validation_loss"};
  if (kHigher->count(metric) > 0) return "maximize";
  return kLower->count(metric) > 0 ? "minimize" : "";
}

// "accuracy", or {reward: [0, 1]}: the name, and the range where there is one.
struct NamedMetric {
  YamlPtr name;
  YamlPtr range;
};

NamedMetric SplitRange(const YamlPtr& node) {
  const bool has_range =
      node->kind == YamlNode::Kind::kMap && node->entries.size() == 1;
  if (!has_range) return {.name = node, .range = nullptr};
  const YamlEntry& only = node->entries[0];
  return {.name = ScalarNode(only.key, only.key_mark), .range = only.value};
}

// {f1: [0, 1], reward: {lo: 0}} is two metrics.
std::vector<YamlPtr> MetricsOf(const YamlPtr& node) {
  if (node->kind == YamlNode::Kind::kList) return node->items;
  std::vector<YamlPtr> metrics;
  for (const YamlEntry& entry : node->entries) {
    metrics.push_back(MapNode({entry}, entry.key_mark));
  }
  return metrics.empty() ? std::vector<YamlPtr>{node} : metrics;
}

absl::StatusOr<YamlPtr> LongObjective(const YamlPtr& node,
                                      const YamlEntry& entry,
                                      const std::string& file) {
  const auto [metric, range] = SplitRange(node);
  if (metric->kind != YamlNode::Kind::kScalar || metric->text.empty()) {
    return ErrorAt(ErrorId::kObjectiveInvalid, file, metric->mark,
                   absl::StrCat(entry.key, " is ", Describe(*metric),
                                ", not the name of a metric"),
                   absl::StrCat("write ", entry.key, ": accuracy, or with its ",
                                "range ", entry.key, ": {reward: [0, 1]}"),
                   entry.key);
  }
  const std::string direction =
      entry.key == "objective" ? KnownDirection(metric->text) : entry.key;
  if (direction.empty()) {
    return ErrorAt(ErrorId::kObjectiveInvalid, file, metric->mark,
                   absl::StrCat("whether more of ", Describe(*metric),
                                " is better is not known"),
                   absl::StrCat("write maximize: ", metric->text,
                                " or minimize: ", metric->text),
                   entry.key);
  }
  std::vector<YamlEntry> entries = {
      {.key = "metric", .key_mark = metric->mark, .value = metric},
      {.key = "direction",
       .key_mark = entry.key_mark,
       .value = ScalarNode(direction, entry.key_mark)}};
  if (range != nullptr) {
    entries.push_back(
        {.key = "range", .key_mark = range->mark, .value = range});
  }
  return MapNode(std::move(entries), metric->mark);
}

}  // namespace

std::vector<std::string> ObjectiveKeys() {
  return {"objective", "maximize", "minimize"};
}

bool IsObjectiveKey(const std::string& key) {
  const std::vector<std::string> keys = ObjectiveKeys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

absl::StatusOr<std::vector<YamlEntry>> LongObjectives(
    std::vector<YamlEntry> entries, const std::string& file) {
  std::vector<YamlEntry> kept;
  std::vector<YamlPtr> objectives;
  YamlMark place;
  bool has_long_form = false;
  for (YamlEntry& entry : entries) {
    if (!IsObjectiveKey(entry.key)) {
      has_long_form = has_long_form || entry.key == kLongKey;
      kept.push_back(std::move(entry));
      continue;
    }
    place = entry.key_mark;
    for (const YamlPtr& metric : MetricsOf(entry.value)) {
      ASSIGN_OR_RETURN(YamlPtr objective, LongObjective(metric, entry, file));
      objectives.push_back(std::move(objective));
    }
  }
  if (objectives.empty()) return kept;
  if (has_long_form) {
    return ErrorAt(ErrorId::kObjectiveInvalid, file, place,
                   "objectives are given twice, short and long",
                   "keep objectives: or the short form", kLongKey);
  }
  kept.push_back({.key = kLongKey,
                  .key_mark = place,
                  .value = ListNode(std::move(objectives), place)});
  return kept;
}

}  // namespace frostline::cli
