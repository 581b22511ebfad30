// SPDX-License-Identifier: Apache-2.0
#include "server/wire/settings.h"

#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/text.h"
#include "base/plain/training_table.h"

namespace frostline::server {
namespace {

using google::protobuf::Value;

bool HasWord(const SettingRow& row, const Value& value) {
  const std::vector<std::string_view> words = WordsOf(row);
  return value.has_string_value() &&
         std::ranges::find(words, value.string_value()) != words.end();
}

// NaN is in no range.
bool InRange(const SettingRow& row, const Value& value) {
  return value.has_number_value() && value.number_value() >= row.least &&
         value.number_value() <= row.most;
}

bool IsWhole(const Value& value) {
  return value.has_number_value() && std::isfinite(value.number_value()) &&
         std::trunc(value.number_value()) == value.number_value();
}

bool IsWeight(const Value& value) {
  return value.has_number_value() && std::isfinite(value.number_value()) &&
         value.number_value() > 0.0;
}

template <typename Test>
bool IsListOf(const Value& value, const Test& fits) {
  return value.has_list_value() &&
         std::ranges::all_of(value.list_value().values(), fits);
}

bool Fits(const SettingRow& row, const Value& value) {
  switch (row.kind) {
    case SettingKind::kWord:
      return HasWord(row, value);
    case SettingKind::kWeights:
      return HasWord(row, value) || IsListOf(value, IsWeight);
    case SettingKind::kText:
      return value.has_string_value();
    case SettingKind::kTexts:
      return IsListOf(value,
                      [](const Value& v) { return v.has_string_value(); });
    case SettingKind::kSwitch:
      return value.has_bool_value();
    case SettingKind::kBits:
      return IsWhole(value) && value.number_value() >= 0.0;
    case SettingKind::kWhole:
      return IsWhole(value) && InRange(row, value);
    case SettingKind::kNumber:
      return InRange(row, value);
  }
  return false;
}

std::string Said(const Value& value) {
  switch (value.kind_case()) {
    case Value::kStringValue:
      return Shown(value.string_value());
    case Value::kNumberValue:
      return absl::StrCat(value.number_value());
    case Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case Value::kListValue:
      return "a list";
    default:
      return "a map";
  }
}

std::string FixOf(const SettingRow& row, const Value& value) {
  if (row.words.empty()) return absl::StrCat("give ", RangeOf(row));
  std::vector<std::string> words;
  for (const std::string_view word : WordsOf(row)) words.emplace_back(word);
  const std::string near = Nearest(value.string_value(), words);
  return absl::StrCat(near.empty() ? "" : "did you mean '" + near + "'? ",
                      "write one of ", Listed(WordsOf(row)),
                      row.kind == SettingKind::kWeights
                          ? ", or a list of numbers above 0"
                          : "");
}

bool IsGiven(const Value& value) {
  if (value.has_string_value()) return !value.string_value().empty();
  return value.kind_case() != Value::kNullValue &&
         value.kind_case() != Value::KIND_NOT_SET;
}

}  // namespace

absl::Status CheckSetting(const SettingRow& row, const Value& value,
                          const std::string& field) {
  if (!IsGiven(value) || Fits(row, value)) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(field, " is ", Said(value)), FixOf(row, value),
                   field);
}

absl::Status CheckWord(const SettingRow& row, const std::string& word,
                       const std::string& field) {
  Value value;
  value.set_string_value(word);
  return CheckSetting(row, value, field);
}

namespace {

absl::Status WrongWord(const std::string& field, const std::string& cause,
                       const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, field);
}

absl::Status CheckWordKind(const v1::DataRef& data, const std::string& field) {
  static const SettingRow kTask = {
      .key = "task", .kind = SettingKind::kWord, .words = kTaskKinds};
  return CheckWord(kTask, data.task(), field);
}

// Returns our words, then the others: "query, key, …", "q_lin, …".
std::pair<std::vector<std::string>, std::vector<std::string>> MapWords() {
  std::vector<std::string> ours;
  std::vector<std::string> others;
  for (const LoraWord& each : LoraWords()) {
    (each.word == each.map ? ours : others).emplace_back(each.word);
  }
  return {std::move(ours), std::move(others)};
}

// Checks the words. Only a worker knows which maps a model's layers have.
absl::Status CheckMaps(const v1::LoraSpec& lora) {
  const std::span<const LoraWord> known = LoraWords();
  for (int i = 0; i < lora.modules_size(); ++i) {
    const std::string& name = lora.modules(i);
    const bool is_known = std::ranges::any_of(
        known, [&](const LoraWord& each) { return each.word == name; });
    if (is_known) continue;
    auto [ours, others] = MapWords();
    std::vector<std::string> all = ours;
    all.insert(all.end(), others.begin(), others.end());
    const std::string near = Nearest(name, all);
    return WrongWord(
        absl::StrCat("training.lora.modules[", i, "]"),
        absl::StrCat("training.lora.modules names ", Shown(name),
                     ", which is no map of a layer"),
        absl::StrCat(near.empty() ? "" : "did you mean '" + near + "'? ",
                     "name some of ", absl::StrJoin(ours, ", "),
                     ", or as transformers has them ",
                     absl::StrJoin(others, ", ")));
  }
  return absl::OkStatus();
}

// The selectors to which a space gives ranks, with their places.
std::vector<std::pair<std::string, std::string>> RankedSelectors(
    const v1::SearchSpace& space) {
  std::vector<std::pair<std::string, std::string>> ranked;
  for (int i = 0; i < space.modules_size(); ++i) {
    if (!space.modules(i).has_rank()) continue;
    ranked.emplace_back(space.modules(i).select(),
                        absl::StrCat("space.modules[", i, "].rank"));
  }
  for (int i = 0; i < space.ties_size(); ++i) {
    if (!space.ties(i).has_rank()) continue;
    for (const std::string& select : space.ties(i).modules()) {
      ranked.emplace_back(select, absl::StrCat("space.ties[", i, "].rank"));
    }
  }
  return ranked;
}

// Says whether an adapter of this half of a layer would have a map to adapt.
bool HasMap(const v1::LoraSpec& lora, bool feed_forward) {
  if (lora.modules().empty()) return !feed_forward;  // query and value
  const std::span<const LoraWord> known = LoraWords();
  return std::ranges::any_of(lora.modules(), [&](const std::string& name) {
    const auto word = std::ranges::find(known, name, &LoraWord::word);
    return word != known.end() && word->map.starts_with("ffn_") == feed_forward;
  });
}

// Ranks by module are one of several ways to say what trains in place of
// weights, and each excludes the others.
absl::Status CheckRanks(const v1::StudySpec& spec) {
  const v1::Training& training = spec.training();
  const auto ranked = RankedSelectors(spec.space());
  if (ranked.empty()) return absl::OkStatus();
  for (const auto& [given, field] :
       {std::pair(training.lora().rank() > 0, "training.lora.rank"),
        std::pair(training.has_adapters(), "training.adapters"),
        std::pair(training.trains() == "biases", "training.trains"),
        std::pair(spec.freeze().virtual_tau() > 0.0, "freeze.virtual_tau")}) {
    if (!given) continue;
    return WrongWord(field,
                     absl::StrCat(field,
                                  " is given, and the space gives ranks "
                                  "to modules, whose weights stay"),
                     "leave one of them out");
  }
  if (training.lora().alpha() > 0.0 && training.lora().alpha_per_rank() > 0.0) {
    return WrongWord("training.lora.alpha_per_rank",
                     "training.lora.alpha and alpha_per_rank are both given",
                     "leave one of them out");
  }
  for (const auto& [select, field] : ranked) {
    const bool ffn = absl::EndsWith(select, ".ffn");
    if (!ffn && !absl::EndsWith(select, ".attention")) continue;
    if (HasMap(training.lora(), ffn)) continue;
    return WrongWord(
        field,
        absl::StrCat("training.lora.modules names no map of ", Shown(select)),
        ffn ? "write training: {lora: {modules: [query, value, ffn_in, "
              "ffn_out]}}"
            : "write training: {lora: {modules: [query, value]}}");
  }
  return absl::OkStatus();
}

absl::Status CheckFrozen(const v1::TaskSpec& task, const std::string& field) {
  for (int i = 0; i < task.freeze_size(); ++i) {
    const std::string& selector = task.freeze(i);
    const bool of_head = absl::StartsWith(selector, "layer.") &&
                         absl::StrContains(selector, ".head.");
    if (!of_head) continue;
    return WrongWord(
        absl::StrCat(field, ".freeze[", i, "]"),
        absl::StrCat("the task ", Shown(task.name()), " freezes ",
                     Shown(selector),
                     ", and a task freezes no single attention heads"),
        "freeze whole layers, or their attention");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckNamedWords(const v1::StudySpec& spec) {
  const v1::Training& training = spec.training();
  if (training.warmup_share() > 0.0 && training.warmup_steps() > 0) {
    return WrongWord("training.warmup_share",
                     "training.warmup_share and training.warmup_steps are both "
                     "given",
                     "give one of them");
  }
  if (std::cmp_greater(training.also_evaluate_size(), kMostOtherSets)) {
    return WrongWord("training.also_evaluate",
                     absl::StrCat("training.also_evaluate names ",
                                  training.also_evaluate_size(), " data sets"),
                     absl::StrCat("name at most ", kMostOtherSets));
  }
  RETURN_IF_ERROR(CheckMaps(training.lora()));
  RETURN_IF_ERROR(CheckRanks(spec));
  RETURN_IF_ERROR(CheckWordKind(spec.data(), "data.task"));
  for (int i = 0; i < spec.tasks_size(); ++i) {
    const std::string field = absl::StrCat("tasks[", i, "]");
    RETURN_IF_ERROR(CheckWordKind(spec.tasks(i).data(), field + ".data.task"));
    RETURN_IF_ERROR(CheckFrozen(spec.tasks(i), field));
  }
  return absl::OkStatus();
}

namespace {

using Names = std::vector<std::string>;

bool Has(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Returns the sets of one data set that a trial evaluates.
Names SetsOf(const v1::DataRef& data, const v1::Training& training) {
  Names names = {"validation", "train"};
  names.insert(names.end(), training.also_evaluate().begin(),
               training.also_evaluate().end());
  if (!data.test_split().empty()) names.emplace_back("test");
  return names;
}

// `data_field` names the data set in the study, `whose` its task in the cause.
absl::Status CheckPredicted(const v1::Training& training,
                            const v1::DataRef& data,
                            const std::string& data_field,
                            const std::string& whose) {
  const Names known = SetsOf(data, training);
  for (int i = 0; i < training.predictions_size(); ++i) {
    const std::string& name = training.predictions(i);
    if (Has(known, name) || name == "dev") continue;
    const std::string field = absl::StrCat("training.predictions[", i, "]");
    if (name == "test") {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("training.predictions names 'test', and ", whose,
                       " no test split"),
          absl::StrCat("give ", data_field, ".test_split, or name some of ",
                       absl::StrJoin(known, ", ")),
          field);
    }
    const std::string near = Nearest(name, known);
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("training.predictions names ", Shown(name),
                     ", which no trial would evaluate"),
        absl::StrCat(near.empty() ? "" : "did you mean '" + near + "'? ",
                     "name some of ", absl::StrJoin(known, ", "),
                     data_field == "data"
                         ? "; for more give training.also_evaluate"
                         : ""),
        field);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPredictedSets(const v1::StudySpec& spec) {
  const v1::Training& training = spec.training();
  if (spec.tasks_size() == 0) {
    return CheckPredicted(training, spec.data(), "data", "data has");
  }
  for (int i = 0; i < spec.tasks_size(); ++i) {
    const v1::TaskSpec& task = spec.tasks(i);
    RETURN_IF_ERROR(CheckPredicted(
        training, task.data(), absl::StrCat("tasks[", i, "].data"),
        absl::StrCat("the task ", Shown(task.name()), " has")));
  }
  return absl::OkStatus();
}

namespace {

absl::Status CheckNumber(const SettingRow& row, double number,
                         const std::string& field) {
  Value value;
  value.set_number_value(number);
  return CheckSetting(row, value, field);
}

bool IsWholeSetting(double number) { return std::trunc(number) == number; }

// `field` is the domain's.
absl::Status CheckSettingKind(const SettingRow& row,
                              const v1::ParameterSpace& asked,
                              const std::string& field) {
  if (row.kind == SettingKind::kWord) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("the parameter ", asked.name(),
                     " is searched as a number, and its values are words"),
        "list some of " + RangeOf(row), field);
  }
  if (row.kind == SettingKind::kNumber) return absl::OkStatus();
  const v1::FloatRange& range = asked.float_();
  const bool whole = !asked.has_log_uniform() &&
                     (!asked.has_float_() ||
                      (range.step() >= 1.0 && IsWholeSetting(range.step()) &&
                       IsWholeSetting(range.lo())));
  if (whole) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("the parameter ", asked.name(),
                                " would have fractions, and is whole"),
                   "search it as {int: [lo, hi]}, or list numbers", field);
}

template <typename Range>
absl::Status CheckEnds(const SettingRow& row, const Range& range,
                       const std::string& field) {
  RETURN_IF_ERROR(
      CheckNumber(row, static_cast<double>(range.lo()), field + ".lo"));
  return CheckNumber(row, static_cast<double>(range.hi()), field + ".hi");
}

absl::Status CheckChoices(const SettingRow& row,
                          const google::protobuf::ListValue& choices,
                          const std::string& field) {
  for (int i = 0; i < choices.values_size(); ++i) {
    RETURN_IF_ERROR(CheckSetting(row, choices.values(i),
                                 absl::StrCat(field, ".choices[", i, "]")));
  }
  return absl::OkStatus();
}

absl::Status CheckSettingDomain(const SettingRow& row,
                                const v1::ParameterSpace& asked,
                                const std::string& field) {
  switch (asked.domain_case()) {
    case v1::ParameterSpace::kChoices:
      return CheckChoices(row, asked.choices(), field);
    case v1::ParameterSpace::DOMAIN_NOT_SET:
      return absl::OkStatus();  // the space's own check says so
    default:
      break;
  }
  RETURN_IF_ERROR(CheckSettingKind(row, asked, field));
  for (int i = 0; i < asked.levels().rates_size(); ++i) {
    RETURN_IF_ERROR(CheckNumber(row, asked.levels().rates(i),
                                absl::StrCat(field, ".levels.rates[", i, "]")));
  }
  if (asked.has_float_())
    return CheckEnds(row, asked.float_(), field + ".float");
  if (asked.has_int_()) return CheckEnds(row, asked.int_(), field + ".int");
  if (!asked.has_log_uniform()) return absl::OkStatus();
  if (asked.log_uniform().freeze()) {
    RETURN_IF_ERROR(CheckNumber(row, 0.0, field + ".log_uniform.freeze"));
  }
  return CheckEnds(row, asked.log_uniform(), field + ".log_uniform");
}

// Adds to the fix what to do with a trainer of one's own: under another name a
// setting may have any value.
absl::Status WithWayOut(const absl::Status& status, const std::string& what) {
  if (status.ok()) return status;
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail{});
  return MakeError(detail.id, std::string(status.message()),
                   absl::StrCat(detail.fix, "; for a trainer of your own call ",
                                what, " something else"),
                   detail.field);
}

absl::Status CheckExtra(const google::protobuf::Struct& extra) {
  for (const SettingRow& row : TrainingTable()) {
    if (row.block() != "extra.") continue;
    const std::string name(row.name());
    const auto given = extra.fields().find(name);
    if (given == extra.fields().end()) continue;
    // `export` was a switch in earlier versions.
    if (name == "export" && given->second.has_bool_value()) continue;
    RETURN_IF_ERROR(WithWayOut(
        CheckSetting(row, given->second, "training.extra." + name), "it"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckUntypedSettings(const v1::StudySpec& spec) {
  if (spec.model().id().empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckExtra(spec.training().extra()));
  for (int i = 0; i < spec.space().parameters_size(); ++i) {
    const v1::ParameterSpace& asked = spec.space().parameters(i);
    const SettingRow* const row = FindSearchedSetting(asked.name());
    if (row == nullptr) continue;
    RETURN_IF_ERROR(
        WithWayOut(CheckSettingDomain(
                       *row, asked, absl::StrCat("space.parameters[", i, "]")),
                   "the parameter"));
  }
  return absl::OkStatus();
}

namespace {

using BoundField = google::protobuf::FieldDescriptor;

void SetNumber(double number, Value& value) {
  // 0 means that the study gave no value.
  if (number != 0.0) value.set_number_value(number);
}

// A number for which this build has no name stays a number, which no row
// accepts.
void SetWord(const google::protobuf::EnumDescriptor& type, int number,
             Value& value) {
  if (number == 0) return;
  const auto* const named = type.FindValueByNumber(number);
  if (named == nullptr) return value.set_number_value(number);
  value.set_string_value(absl::AsciiStrToLower(named->name()));
}

// Returns what the study gave, as it would stand in a file; null for nothing,
// and for what has no bounds.
Value GivenIn(const google::protobuf::Message& message,
              const BoundField* field) {
  const auto& reflection = *message.GetReflection();
  Value value;
  switch (field->cpp_type()) {
    case BoundField::CPPTYPE_DOUBLE:
      SetNumber(reflection.GetDouble(message, field), value);
      break;
    case BoundField::CPPTYPE_INT32:
      SetNumber(reflection.GetInt32(message, field), value);
      break;
    case BoundField::CPPTYPE_INT64:
      SetNumber(static_cast<double>(reflection.GetInt64(message, field)),
                value);
      break;
    case BoundField::CPPTYPE_STRING:
      value.set_string_value(reflection.GetString(message, field));
      break;
    case BoundField::CPPTYPE_ENUM:
      SetWord(*field->enum_type(), reflection.GetEnumValue(message, field),
              value);
      break;
    default:
      break;
  }
  return value;
}

// `where` is the message's name in the study, `block` its name in the table.
absl::Status CheckBlock(const google::protobuf::Message& message,
                        const std::string& where, const std::string& block) {
  const auto* const type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const BoundField* const field = type->field(i);
    const SettingRow* const row = FindSetting(block + field->name());
    if (row == nullptr || field->is_repeated()) continue;
    RETURN_IF_ERROR(
        CheckSetting(*row, GivenIn(message, field), where + field->name()));
  }
  return absl::OkStatus();
}

// Metrics of such a set would have the names of those of the test split.
absl::Status CheckOtherSets(const v1::Training& training) {
  for (const std::string& id : training.also_evaluate()) {
    if (id != "test") continue;
    return MakeError(
        ErrorId::kRequestInvalid,
        "also_evaluate names a data set test, whose metrics would be those "
        "of the test split: test.accuracy",
        "register the data set under another id; for the test split of data.id "
        "give data.test_split",
        "training.also_evaluate");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTrainingBounds(const v1::StudySpec& spec) {
  const v1::Training& training = spec.training();
  RETURN_IF_ERROR(CheckBlock(training, "training.", ""));
  RETURN_IF_ERROR(CheckOtherSets(training));
  RETURN_IF_ERROR(CheckBlock(training.head(), "training.head.", "head."));
  RETURN_IF_ERROR(CheckBlock(training.lora(), "training.lora.", "lora."));
  RETURN_IF_ERROR(
      CheckBlock(training.adapters(), "training.adapters.", "adapters."));
  RETURN_IF_ERROR(CheckBlock(training.smart(), "training.smart.", "smart."));
  RETURN_IF_ERROR(CheckBlock(training.early_stopping(),
                             "training.early_stopping.", "early_stopping."));
  RETURN_IF_ERROR(CheckBlock(spec.freeze(), "freeze.", "freeze."));
  for (int i = 0; i < spec.tasks_size(); ++i) {
    RETURN_IF_ERROR(CheckBlock(spec.tasks(i).head(),
                               absl::StrCat("tasks[", i, "].head."), "head."));
  }
  RETURN_IF_ERROR(CheckNamedWords(spec));
  RETURN_IF_ERROR(CheckUntypedSettings(spec));
  return CheckPredictedSets(spec);
}

}  // namespace frostline::server
