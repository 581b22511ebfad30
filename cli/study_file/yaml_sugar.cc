// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/yaml_sugar.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/error.h"

namespace frostline::cli {
namespace {

constexpr char kNumberChars[] = "0123456789+-.eE";

bool LooksDecimal(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of(kNumberChars) == std::string::npos;
}

// Returns whether there is a digit other than 0 before the exponent.
bool HasNonZeroDigit(const std::string& text) {
  const std::string digits = text.substr(0, text.find_first_of("eE"));
  return digits.find_first_of("123456789") != std::string::npos;
}

// Returns "DIRECTION_" for the enum Direction, or "" when its values have no
// prefix.
std::string PrefixOf(const google::protobuf::EnumDescriptor& type) {
  constexpr char kUnspecified[] = "UNSPECIFIED";
  const std::string& zero = type.FindValueByNumber(0)->name();
  const std::string prefix =
      zero.substr(0, zero.size() - (sizeof(kUnspecified) - 1));
  for (int i = 0; i < type.value_count(); ++i) {
    if (!absl::StartsWith(type.value(i)->name(), prefix)) return "";
  }
  return prefix;
}

google::protobuf::Value TextValue(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  return value;
}

}  // namespace

std::optional<double> ReadDouble(const std::string& text) {
  double value = 0.0;
  if (!LooksDecimal(text) || !absl::SimpleAtod(text, &value)) {
    return std::nullopt;
  }
  if (!std::isfinite(value)) return std::nullopt;
  if (value == 0.0 && HasNonZeroDigit(text)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ReadInt(const std::string& text) {
  std::int64_t value = 0;
  if (!LooksDecimal(text) || !absl::SimpleAtoi(text, &value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> ReadUint(const std::string& text) {
  std::uint64_t value = 0;
  if (!LooksDecimal(text) || text[0] == '-' ||
      !absl::SimpleAtoi(text, &value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<bool> ReadBool(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<google::protobuf::Duration> ReadDuration(
    const std::string& text) {
  absl::Duration parsed;
  const std::optional<double> seconds = ReadDouble(text);
  if (seconds.has_value()) {
    parsed = absl::Seconds(*seconds);
  } else if (!absl::ParseDuration(text, &parsed)) {
    return std::nullopt;
  }
  if (absl::AbsDuration(parsed) == absl::InfiniteDuration()) {
    return std::nullopt;
  }
  google::protobuf::Duration duration;
  duration.set_seconds(absl::IDivDuration(parsed, absl::Seconds(1), &parsed));
  duration.set_nanos(
      static_cast<std::int32_t>(absl::ToInt64Nanoseconds(parsed)));
  return duration;
}

std::string ShortName(const google::protobuf::EnumValueDescriptor& value) {
  return absl::AsciiStrToLower(
      value.name().substr(PrefixOf(*value.type()).size()));
}

const google::protobuf::EnumValueDescriptor* ReadEnum(
    const std::string& text, const google::protobuf::EnumDescriptor& type) {
  const std::string wanted = absl::AsciiStrToLower(text);
  for (int i = 0; i < type.value_count(); ++i) {
    const google::protobuf::EnumValueDescriptor* const value = type.value(i);
    if (value->number() == 0) continue;
    if (ShortName(*value) == wanted ||
        absl::AsciiStrToLower(value->name()) == wanted) {
      return value;
    }
  }
  return nullptr;
}

google::protobuf::Value ReadAny(const YamlNode& node) {
  google::protobuf::Value value;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      value.set_null_value(google::protobuf::NULL_VALUE);
      return value;
    case YamlNode::Kind::kList:
      value.mutable_list_value();
      for (const YamlPtr& item : node.items) {
        *value.mutable_list_value()->add_values() = ReadAny(*item);
      }
      return value;
    case YamlNode::Kind::kMap:
      value.mutable_struct_value();
      for (const YamlEntry& entry : node.entries) {
        (*value.mutable_struct_value()->mutable_fields())[entry.key] =
            ReadAny(*entry.value);
      }
      return value;
    case YamlNode::Kind::kScalar:
      break;
  }
  if (node.quoted) return TextValue(node.text);
  if (const auto flag = ReadBool(node.text)) {
    value.set_bool_value(*flag);
  } else if (const auto number = ReadDouble(node.text)) {
    value.set_number_value(*number);
  } else {
    return TextValue(node.text);
  }
  return value;
}

namespace {

using google::protobuf::Descriptor;
using Kind = YamlNode::Kind;

// Returns, by message, the field that a scalar in its place sets.
const std::map<std::string, std::string>& ScalarFields() {
  static const auto* const kFields = new std::map<std::string, std::string>{
      {"ModelRef", "id"},
      {"DataRef", "id"},
      {"HeadSpec", "kind"},
      {"SamplerSpec", "name"},
      {"PrunerSpec", "name"},
      {"Strategy", "name"},
      {"Budget", "trials"},
      {"WarmStart", "study"},
      {"FreezeSemantics", "mode"},
      {"ModuleSpace", "fixed"},
      {"NumberSpace", "fixed"},
      {"Objective", "direction"},
      {"MetricConstraint", "upper_bound"},
      {"RepeatLeaders", "times"}};
  return *kFields;
}

// Returns, by message, the field that a list in its place sets.
const std::map<std::string, std::string>& ListFields() {
  static const auto* const kFields =
      new std::map<std::string, std::string>{{"Levels", "rates"},
                                             {"Ranks", "ranks"},
                                             {"ModuleSpace", "levels"},
                                             {"NumberSpace", "levels"},
                                             {"ParameterSpace", "choices"}};
  return *kFields;
}

// Returns the messages for which a list is the lower and the upper end.
const std::set<std::string>& Ranges() {
  static const auto* const kRanges = new std::set<std::string>{
      "LogUniform", "FloatRange", "IntRange", "PrefixDepth", "MetricRange"};
  return *kRanges;
}

// Returns, by repeated message, the field that the keys of a map set.
const std::map<std::string, std::string>& KeyFields() {
  static const auto* const kFields = new std::map<std::string, std::string>{
      {"ModuleSpace", "select"}, {"Tie", "name"},
      {"TaskSpec", "name"},      {"ParameterSpace", "name"},
      {"Objective", "metric"},   {"MetricConstraint", "metric"}};
  return *kFields;
}

bool IsStrategyName(const std::string& word) {
  const std::vector<std::string> names = StrategyNames();
  return std::find(names.begin(), names.end(), word) != names.end();
}

std::string Lookup(const std::map<std::string, std::string>& table,
                   const std::string& key) {
  const auto found = table.find(key);
  return found == table.end() ? "" : found->second;
}

YamlEntry Entry(const std::string& key, const YamlMark& mark, YamlPtr value) {
  return {.key = key, .key_mark = mark, .value = std::move(value)};
}

YamlPtr Wrap(const std::string& field, const YamlPtr& node) {
  return MapNode({Entry(field, node->mark, node)}, node->mark);
}

// Rewrites {full: 1e-3} and {first_k: {k: 2, rate: 1e-3}}.
YamlPtr LongStrategy(const YamlPtr& node) {
  if (node->entries.size() != 1 || !IsStrategyName(node->entries[0].key)) {
    return node;
  }
  const YamlEntry& only = node->entries[0];
  std::vector<YamlEntry> entries = {
      Entry("name", only.key_mark, ScalarNode(only.key, only.key_mark))};
  if (only.value->kind == Kind::kScalar) {
    entries.push_back(Entry("rate", only.value->mark, only.value));
  } else {
    entries.insert(entries.end(), only.value->entries.begin(),
                   only.value->entries.end());
  }
  return MapNode(std::move(entries), node->mark);
}

}  // namespace

std::string FieldOfScalar(const Descriptor& message) {
  return Lookup(ScalarFields(), message.name());
}

std::string FieldOfList(const Descriptor& message) {
  return Lookup(ListFields(), message.name());
}

bool IsRange(const Descriptor& message) {
  return Ranges().count(message.name()) > 0;
}

std::string FieldOfKey(const Descriptor& message) {
  return Lookup(KeyFields(), message.name());
}

std::vector<std::string> StrategyNames() {
  return {"full", "head_only", "first_k", "last_k", "alternating", "decay"};
}

YamlPtr ScalarNode(const std::string& text, const YamlMark& mark) {
  auto node = std::make_shared<YamlNode>();
  node->kind = Kind::kScalar;
  node->text = text;
  node->mark = mark;
  return node;
}

YamlPtr ListNode(std::vector<YamlPtr> items, const YamlMark& mark) {
  auto node = std::make_shared<YamlNode>();
  node->kind = Kind::kList;
  node->items = std::move(items);
  node->mark = mark;
  return node;
}

YamlPtr MapNode(std::vector<YamlEntry> entries, const YamlMark& mark) {
  auto node = std::make_shared<YamlNode>();
  node->kind = Kind::kMap;
  node->entries = std::move(entries);
  node->mark = mark;
  return node;
}

YamlPtr LongForm(const YamlPtr& node, const Descriptor& message) {
  const std::string& name = message.name();
  if (node->kind == Kind::kScalar) {
    // One rank is a list of one.
    if (name == "Ranks") return Wrap("ranks", ListNode({node}, node->mark));
    const std::string field = FieldOfScalar(message);
    return field.empty() ? node : Wrap(field, node);
  }
  if (node->kind == Kind::kList) {
    if (IsRange(message) && node->items.size() == 2) {
      return MapNode({Entry("lo", node->items[0]->mark, node->items[0]),
                      Entry("hi", node->items[1]->mark, node->items[1])},
                     node->mark);
    }
    const std::string field = FieldOfList(message);
    return field.empty() ? node : Wrap(field, node);
  }
  if (node->kind == Kind::kMap && name == "Strategy") return LongStrategy(node);
  return node;
}

YamlPtr LongList(const YamlPtr& node, const Descriptor& message) {
  const std::string field = FieldOfKey(message);
  if (field.empty() || node->kind != Kind::kMap) return node;
  std::vector<YamlPtr> items;
  for (const YamlEntry& entry : node->entries) {
    const YamlPtr value = LongForm(entry.value, message);
    if (value->kind != Kind::kMap) {
      items.push_back(value);  // the reader will say what it should have been
      continue;
    }
    std::vector<YamlEntry> entries = {
        Entry(field, entry.key_mark, ScalarNode(entry.key, entry.key_mark))};
    entries.insert(entries.end(), value->entries.begin(), value->entries.end());
    items.push_back(MapNode(std::move(entries), entry.key_mark));
  }
  return ListNode(std::move(items), node->mark);
}

std::string LongKey(const std::string& key, const Descriptor& message) {
  return message.name() == "SearchSpace" && key == "tie" ? "ties" : key;
}

bool MayBeFrozen(const google::protobuf::FieldDescriptor& field) {
  return field.full_name() == "frostline.v1.Levels.rates" ||
         field.full_name() == "frostline.v1.ModuleSpace.fixed";
}

namespace {

constexpr char kLongKey[] = "objectives";

// Returns the direction of a metric if it is well known, else "".
std::string KnownDirection(const std::string& metric) {
  static const auto* const kHigher = new std::set<std::string>{
      "accuracy", "auc",      "bleu",  "f1",      "macro_f1",
      "matthews", "mcc",      "r2",    "pearson", "precision",
      "recall",   "spearman", "rouge", "map",     "macro_auc"};
  static const auto* const kLower =
      new std::set<std::string>{"error",
                                "loss",
                                "mae",
                                "mse",
                                "perplexity",
                                "rmse",
                                "train_loss",
                                "train_seconds",
                                "val_loss",
                                "error_rate",
                                "validation_loss",
                                "peak_memory_mib"};
  if (kHigher->count(metric) > 0) return "maximize";
  return kLower->count(metric) > 0 ? "minimize" : "";
}

// A metric's name and, if given, its range: "accuracy" or {reward: [0, 1]}.
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

// Returns the metrics of a node; {f1: [0, 1], reward: {lo: 0}} has two.
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

namespace {

constexpr char kLongConstraints[] = "constraints";

// Returns {metric: M, upper_bound: N} of "M <= N".
absl::StatusOr<YamlPtr> LongConstraint(const YamlNode& node,
                                       const std::string& file) {
  const std::vector<std::string> sides =
      node.kind == Kind::kScalar
          ? std::vector<std::string>(absl::StrSplit(node.text, "<="))
          : std::vector<std::string>();
  const std::string metric =
      sides.size() == 2 ? std::string(absl::StripAsciiWhitespace(sides[0]))
                        : "";
  const std::string bound =
      sides.size() == 2 ? std::string(absl::StripAsciiWhitespace(sides[1]))
                        : "";
  if (metric.empty() || !ReadDouble(bound).has_value()) {
    return ErrorAt(ErrorId::kStudyFileSyntax, file, node.mark,
                   absl::StrCat("constraint is ", Describe(node),
                                ", not a metric with its upper bound"),
                   "write constraint: peak_memory_mib <= 8000", kConstraintKey);
  }
  return MapNode(
      {Entry("metric", node.mark, ScalarNode(metric, node.mark)),
       Entry("upper_bound", node.mark, ScalarNode(bound, node.mark))},
      node.mark);
}

}  // namespace

absl::StatusOr<std::vector<YamlEntry>> LongConstraints(
    std::vector<YamlEntry> entries, const std::string& file) {
  const auto is_key = [](const char* key) {
    return [key](const YamlEntry& entry) { return entry.key == key; };
  };
  const auto found = std::ranges::find_if(entries, is_key(kConstraintKey));
  if (found == entries.end()) return entries;
  if (std::ranges::any_of(entries, is_key(kLongConstraints))) {
    return ErrorAt(ErrorId::kStudyFileSyntax, file, found->key_mark,
                   "constraints are given twice, short and long",
                   "keep constraints: or the short form", kConstraintKey);
  }
  const bool is_list = found->value->kind == Kind::kList;
  std::vector<YamlPtr> constraints;
  for (const YamlPtr& one :
       is_list ? found->value->items : std::vector<YamlPtr>{found->value}) {
    ASSIGN_OR_RETURN(YamlPtr constraint, LongConstraint(*one, file));
    constraints.push_back(std::move(constraint));
  }
  found->key = kLongConstraints;
  found->value = ListNode(std::move(constraints), found->key_mark);
  return entries;
}

}  // namespace frostline::cli
