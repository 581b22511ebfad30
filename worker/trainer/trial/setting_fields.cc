// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/setting_fields.h"

#include <algorithm>

#include "base/plain/text.h"

namespace frostline::trainer {
namespace {

bool IsThere(const JsonValue* value) {
  return value != nullptr && !value->is(JsonKind::kNull);
}

// A word that nobody knows would be taken for one that did its work.
std::optional<Fault> UnknownMember(const std::string& block,
                                   const std::string& where,
                                   const JsonValue* study) {
  if (study == nullptr || !study->is(JsonKind::kObject)) return std::nullopt;
  for (const JsonValue* v = study->first; v != nullptr; v = v->next) {
    const std::string key = block + std::string(v->key);
    const bool known = FindSetting(key) != nullptr ||
                       (block.empty() && (v->key == "extra" ||
                                          !NamesOfBlock(key + ".").empty()));
    if (known) continue;
    return Fault{
        FaultKind::kMisuse,
        where + " has " + Shown(v->key) + ", which this trainer does not know",
        "it knows " + Listed(NamesOfBlock(block))};
  }
  return std::nullopt;
}

bool IsRate(const JsonValue& value, const JsonValue* rates) {
  if (!value.is(JsonKind::kNumber) || rates == nullptr) return false;
  for (const JsonValue* v = rates->first; v != nullptr; v = v->next) {
    if (v->is(JsonKind::kNumber) && v->number == value.number) return true;
  }
  return false;
}

// These blocks do nothing unless the study has them.
bool MustBeThere(std::string_view block) {
  return block == "lora." || block == "adapters." || block == "smart.";
}

// What may be searched: adapters only where there are some.
std::vector<std::string_view> Searchable(const JsonValue* training) {
  std::vector<std::string_view> names;
  for (const SettingRow& row : TrainingTable()) {
    if (row.searched_as.empty()) continue;
    const std::string_view block = row.block();
    if (!MustBeThere(block) ||
        (training != nullptr &&
         IsThere(training->Find(block.substr(0, block.size() - 1))))) {
      names.push_back(row.searched_as);
    }
  }
  return names;
}

}  // namespace

SettingFields::SettingFields(std::string block, const std::string& where,
                             const JsonValue* parameters,
                             const JsonValue* study)
    : block_(std::move(block)),
      searched_(MustBeThere(block_) ? "parameters" : where, {parameters}),
      study_(where, {study}) {
  if (const auto fault = UnknownMember(block_, where, study)) {
    study_.Take(*fault);
  }
}

const SettingRow& SettingFields::RowOf(std::string_view name) const {
  return SettingOf(block_ + std::string(name));
}

RequestFields& SettingFields::SourceOf(const SettingRow& row,
                                       std::string_view* name) {
  *name = row.searched_as;
  if (!name->empty() && searched_.Find(*name) != nullptr) return searched_;
  *name = row.name();
  return study_;
}

bool SettingFields::Has(std::string_view name) const {
  const SettingRow& row = RowOf(name);
  return (!row.searched_as.empty() &&
          searched_.Find(row.searched_as) != nullptr) ||
         study_.Find(name) != nullptr;
}

std::int64_t SettingFields::Whole(std::string_view name) {
  return Whole(name, static_cast<std::int64_t>(RowOf(name).unless_given));
}

std::int64_t SettingFields::Whole(std::string_view name,
                                  std::int64_t unless_given) {
  const SettingRow& row = RowOf(name);
  RequestFields& source = SourceOf(row, &name);
  return source.Whole(name, static_cast<std::int64_t>(row.least),
                      static_cast<std::int64_t>(row.most), unless_given);
}

double SettingFields::Number(std::string_view name) {
  const SettingRow& row = RowOf(name);
  RequestFields& source = SourceOf(row, &name);
  return source.Number(name, row.least, row.most, row.unless_given);
}

std::uint64_t SettingFields::Bits(std::string_view name) {
  RequestFields& source = SourceOf(RowOf(name), &name);
  return source.Bits(name);
}

std::size_t SettingFields::Word(std::string_view name) {
  const std::vector<std::string_view> words = WordsOf(RowOf(name));
  RequestFields& source = SourceOf(RowOf(name), &name);
  const std::string word = source.Text(name);
  if (word.empty()) return 0;
  const auto found = std::ranges::find(words, word);
  if (found != words.end()) {
    return static_cast<std::size_t>(found - words.begin());
  }
  source.Fail(name, "is unknown: " + Shown(word),
              "use one of " + Listed(words));
  return 0;
}

std::optional<Fault> SettingFields::fault() const {
  return study_.fault() ? study_.fault() : searched_.fault();
}

std::optional<Fault> IdleParameter(const JsonValue& trial) {
  const JsonValue* parameters = trial.Find("parameters");
  const JsonValue* rates = trial.Find("rates");
  const JsonValue* training = trial.Find("training");
  if (parameters == nullptr) return std::nullopt;
  const std::vector<std::string_view> searchable = Searchable(training);
  for (const JsonValue* v = parameters->first; v != nullptr; v = v->next) {
    // A tie goes by a name of its own, but its value is a rate.
    const bool known =
        v->key == "prefix_depth" || v->key == "base_rate" ||
        v->key == "decay" ||  // of the space's layerwise_decay
        std::ranges::find(searchable, v->key) != searchable.end() ||
        (rates != nullptr && rates->Find(v->key) != nullptr) ||
        IsRate(*v, rates);
    if (known) continue;
    return Fault{FaultKind::kMisuse,
                 "the parameter " + Shown(v->key) +
                     " would have no effect on this trainer",
                 "search one of " + Listed(searchable) +
                     ", or bring a trainer of your own"};
  }
  return std::nullopt;
}

}  // namespace frostline::trainer
