// SPDX-License-Identifier: Apache-2.0
#include "server/wire/settings.h"

#include <google/protobuf/struct.pb.h>

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/training_table.h"
#include "server/wire/untyped_settings.h"

namespace frostline::server {
namespace {

using google::protobuf::Value;

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

// A name of its own is what a trainer of the user's own takes any value under.
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
    // It was a switch once.
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

}  // namespace frostline::server
