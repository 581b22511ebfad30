// SPDX-License-Identifier: Apache-2.0
#include "server/wire/filter_fields.h"

#include <algorithm>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"
#include "storage/rows.h"

namespace frostline::server {
namespace {

constexpr char kParameters[] = "parameters.";

bool IsParameter(const std::string& field) {
  return absl::StartsWith(field, kParameters);
}

enum class FieldKind { kUnknown, kText, kNumber };

bool IsLabel(const std::string& field) {
  return absl::StartsWith(field, "labels.");
}

// What T calls `field`, if anything; the names it may have there, without their
// prefix, when these are an enum's.
FieldKind KindOfField(const storage::TrialRow&, const std::string& field) {
  if (field == "number" || field == "attempt" ||
      absl::StartsWith(field, "values[") ||
      absl::StartsWith(field, "metrics.")) {
    return FieldKind::kNumber;
  }
  const bool is_text = field == "state" || field == "origin" ||
                       field == "worker" || IsLabel(field);
  return is_text ? FieldKind::kText : FieldKind::kUnknown;
}

FieldKind KindOfField(const v1::AuditEntry&, const std::string& field) {
  const bool known = field == "subject" || field == "role" ||
                     field == "method" || field == "study" ||
                     field == "outcome" || field == "address";
  return known ? FieldKind::kText : FieldKind::kUnknown;
}

// Of studies and workers.
template <typename T>
FieldKind KindOfField(const T&, const std::string& field) {
  const bool known = field == "state" || IsLabel(field);
  return known ? FieldKind::kText : FieldKind::kUnknown;
}

// The fields of a T, each in a term that can be typed. A study's own names
// stand where they are known.
std::string ExamplesOf(const storage::TrialRow&, const TrialNames& names) {
  const bool has_parameters = names.space != nullptr && names.space->size() > 0;
  return absl::StrCat(
      "state = SUCCEEDED, origin = SAMPLED, worker = workers/w1, number < 10, "
      "attempt > 1, values[0] > 0.9, metrics.",
      names.metrics.empty() ? "accuracy" : names.metrics.front(), " > 0.9, ",
      kParameters,
      has_parameters ? names.space->parameters().front().name : "head",
      " = 0, labels.kind = base");
}
std::string ExamplesOf(const v1::AuditEntry&, const TrialNames&) {
  return "subject = ana, role = ADMIN, method = CreateStudy, study = "
         "studies/imdb, outcome = OK, address = 10.0.0.7";
}
template <typename T>
std::string ExamplesOf(const T&, const TrialNames&) {
  return "state = ACTIVE, labels.team = nlp";
}

template <typename T>
absl::Status NoField(const std::string& field, const TrialNames& names) {
  return MakeError(
      ErrorId::kFilterInvalid, "there is no field " + field,
      absl::StrCat("write terms of these, joined by AND: ",
                   ExamplesOf(T(), names), " (`frostline help filter`)"),
      "filter");
}

// A bare name that is a metric or a parameter of the study, and not both,
// stands for that field: it is what tables have above their columns.
template <typename T>
void CompleteName(const TrialNames&, const T&, FilterTerm&) {}
void CompleteName(const TrialNames& names, const storage::TrialRow& row,
                  FilterTerm& term) {
  if (names.space == nullptr || IsParameter(term.field) ||
      KindOfField(row, term.field) != FieldKind::kUnknown) {
    return;
  }
  const bool is_metric =
      std::count(names.metrics.begin(), names.metrics.end(), term.field) > 0;
  const bool is_parameter = names.space->IndexOf(term.field).has_value();
  if (is_metric == is_parameter) return;
  term.field = absl::StrCat(is_metric ? std::string("metrics.") : kParameters,
                            term.field);
}

// What kind of value parameters.NAME has; unknown where there is none so named.
FieldKind FindFilterParameter(const TrialNames& names, FilterTerm& term) {
  if (names.space == nullptr) return FieldKind::kUnknown;
  const auto index =
      names.space->IndexOf(term.field.substr(sizeof(kParameters) - 1));
  if (!index.has_value()) return FieldKind::kUnknown;
  term.place = static_cast<std::size_t>(*index);
  term.domain = names.space->parameters()[*term.place].domain;
  if (std::holds_alternative<Categorical>(term.domain)) return FieldKind::kText;
  // Tables show the rate 0 so.
  if (term.value == "frozen") term.value = "0";
  return FieldKind::kNumber;
}

// The message that shows a T.
template <typename T>
const google::protobuf::Descriptor& ShownAs() {
  return *T::descriptor();
}
template <>
const google::protobuf::Descriptor& ShownAs<storage::TrialRow>() {
  return *v1::Trial::descriptor();
}

// Whether `value` can be equal to a field that is an enum; true for others.
bool CanBe(const google::protobuf::Descriptor& message,
           const std::string& field, const std::string& value) {
  const auto* const found = message.FindFieldByName(field);
  if (found == nullptr || found->enum_type() == nullptr) return true;
  const std::string& zero = found->enum_type()->value(0)->name();
  const std::string prefix(absl::StripSuffix(zero, "UNSPECIFIED"));
  return value != "UNSPECIFIED" &&
         found->enum_type()->FindValueByName(prefix + value) != nullptr;
}

}  // namespace

absl::Status InvalidFilter(const std::string& cause) {
  return MakeError(ErrorId::kFilterInvalid, cause,
                   "write terms such as state = SUCCEEDED joined by AND",
                   "filter");
}

template <typename T>
absl::Status CheckTerm(const TrialNames& names, FilterTerm& term) {
  CompleteName(names, T(), term);
  const FieldKind kind = IsParameter(term.field)
                             ? FindFilterParameter(names, term)
                             : KindOfField(T(), term.field);
  if (kind == FieldKind::kUnknown) return NoField<T>(term.field, names);
  const bool is_equality = term.op == "=" || term.op == "!=";
  const bool is_order =
      term.op == "<" || term.op == "<=" || term.op == ">" || term.op == ">=";
  if (!is_equality && !is_order) {
    return InvalidFilter("unknown operator " + term.op);
  }
  if (kind == FieldKind::kNumber) {
    if (absl::SimpleAtod(term.value, &term.number)) return absl::OkStatus();
    return InvalidFilter(term.value + " is not a number");
  }
  if (is_order) return InvalidFilter(term.field + " has no order");
  if (CanBe(ShownAs<T>(), term.field, term.value)) return absl::OkStatus();
  return InvalidFilter(term.field + " is never " + term.value);
}

template absl::Status CheckTerm<storage::TrialRow>(const TrialNames& names,
                                                   FilterTerm& term);
template absl::Status CheckTerm<v1::Study>(const TrialNames& names,
                                           FilterTerm& term);
template absl::Status CheckTerm<v1::Worker>(const TrialNames& names,
                                            FilterTerm& term);
template absl::Status CheckTerm<v1::AuditEntry>(const TrialNames& names,
                                                FilterTerm& term);

}  // namespace frostline::server
