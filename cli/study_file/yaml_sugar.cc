// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/yaml_sugar.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using Kind = YamlNode::Kind;

// What a scalar in place of a message means: the value of this field.
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

// What a list in place of a message means: this field, which takes the list …
const std::map<std::string, std::string>& ListFields() {
  static const auto* const kFields =
      new std::map<std::string, std::string>{{"Levels", "rates"},
                                             {"ModuleSpace", "levels"},
                                             {"NumberSpace", "levels"},
                                             {"ParameterSpace", "choices"}};
  return *kFields;
}

// … or its lower and upper end.
const std::set<std::string>& Ranges() {
  static const auto* const kRanges = new std::set<std::string>{
      "LogUniform", "FloatRange", "IntRange", "PrefixDepth", "MetricRange"};
  return *kRanges;
}

// The field of a repeated message that a map's keys go into.
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

// {full: 1e-3} and {first_k: {k: 2, rate: 1e-3}}.
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

}  // namespace frostline::cli
