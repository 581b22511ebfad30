// SPDX-License-Identifier: Apache-2.0
#include "server/wire/filter.h"

#include <cctype>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/status_macros.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::server {
namespace {

using Value = std::variant<std::string, double>;
// Nothing: the item has no such label, metric or value.
using Looked = std::optional<Value>;

absl::Status Invalid(const std::string& cause) {
  return MakeError(ErrorId::kFilterInvalid, cause,
                   "write terms such as state = SUCCEEDED joined by AND",
                   "filter");
}

// What stands in `map` at the name after the dot of "labels.team".
template <typename Map>
Looked Named(const Map& map, const std::string& field) {
  const auto found = map.find(field.substr(field.find('.') + 1));
  if (found == map.end()) return std::nullopt;
  return found->second;
}

// "TRIAL_STATE_SUCCEEDED" -> "SUCCEEDED".
std::string Short(const std::string& name, const std::string& prefix) {
  return std::string(absl::StripPrefix(name, prefix));
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

Looked Look(const storage::TrialRow& trial, const std::string& field) {
  if (field == "state") {
    const auto state = static_cast<v1::TrialState>(trial.state);
    return Short(v1::TrialState_Name(state), "TRIAL_STATE_");
  }
  if (field == "origin") {
    const auto origin = static_cast<v1::TrialOrigin>(trial.origin);
    return Short(v1::TrialOrigin_Name(origin), "TRIAL_ORIGIN_");
  }
  if (field == "worker") {
    return trial.worker.empty() ? "" : WorkerNameOf(trial.worker);
  }
  if (field == "number") return static_cast<double>(trial.number);
  if (field == "attempt") return static_cast<double>(trial.attempt);
  if (absl::StartsWith(field, "metrics.")) return Named(trial.metrics, field);
  if (IsLabel(field)) {
    v1::Trial noted;
    noted.ParseFromString(trial.labels);
    return Named(noted.labels(), field);
  }
  std::size_t index = 0;
  if (!absl::SimpleAtoi(field.substr(7, field.size() - 8), &index) ||
      index >= trial.values.size()) {
    return std::nullopt;
  }
  return trial.values[index];
}

Looked Look(const v1::Study& study, const std::string& field) {
  if (field == "state") {
    return Short(v1::StudyState_Name(study.state()), "STUDY_STATE_");
  }
  return Named(study.settings().labels(), field);
}

Looked Look(const v1::Worker& worker, const std::string& field) {
  if (field == "state") {
    return Short(v1::WorkerState_Name(worker.state()), "WORKER_STATE_");
  }
  return Named(worker.labels(), field);
}

// "studies/imdb" of "studies/imdb/trials/7".
std::string StudyOf(const std::string& resource) {
  if (!absl::StartsWith(resource, "studies/")) return "";
  return resource.substr(0, resource.find('/', sizeof("studies/") - 1));
}

Looked Look(const v1::AuditEntry& entry, const std::string& field) {
  if (field == "subject") return entry.subject();
  if (field == "role") return Short(v1::Role_Name(entry.role()), "ROLE_");
  if (field == "method") return entry.method();
  if (field == "study") return StudyOf(entry.resource());
  if (field == "address") return entry.address();
  return entry.outcome();
}

template <typename V>
bool Holds(const V& left, const std::string& op, const V& right) {
  if (op == "=") return left == right;
  if (op == "!=") return left != right;
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  return left >= right;
}

// Reads one word, quoted text or operator from the front of `text`.
absl::StatusOr<std::string> NextToken(std::string& text) {
  text = std::string(absl::StripLeadingAsciiWhitespace(text));
  if (text.empty()) return Invalid("the filter ends too early");
  std::size_t length = 0;
  if (text[0] == '"') {
    const std::size_t end = text.find('"', 1);
    if (end == std::string::npos) return Invalid("a quote is not closed");
    std::string word = text.substr(1, end - 1);
    text.erase(0, end + 1);
    return word;
  }
  const std::string operators = "=!<>";
  const bool is_operator = operators.find(text[0]) != std::string::npos;
  while (length < text.size() && text[length] != ' ' &&
         (operators.find(text[length]) != std::string::npos) == is_operator) {
    ++length;
  }
  std::string word = text.substr(0, length);
  text.erase(0, length);
  return word;
}

// Also reads the number, where the field is one.
template <typename T>
absl::Status CheckTerm(FilterTerm& term) {
  const FieldKind kind = KindOfField(T(), term.field);
  if (kind == FieldKind::kUnknown) {
    return Invalid("there is no field " + term.field);
  }
  const bool is_equality = term.op == "=" || term.op == "!=";
  const bool is_order =
      term.op == "<" || term.op == "<=" || term.op == ">" || term.op == ">=";
  if (!is_equality && !is_order) return Invalid("unknown operator " + term.op);
  if (kind == FieldKind::kNumber) {
    if (absl::SimpleAtod(term.value, &term.number)) return absl::OkStatus();
    return Invalid(term.value + " is not a number");
  }
  if (is_order) return Invalid(term.field + " has no order");
  if (CanBe(ShownAs<T>(), term.field, term.value)) return absl::OkStatus();
  return Invalid(term.field + " is never " + term.value);
}

}  // namespace

template <typename T>
absl::StatusOr<Filter<T>> Filter<T>::Parse(const std::string& text) {
  Filter filter;
  std::string rest(absl::StripAsciiWhitespace(text));
  while (!rest.empty()) {
    if (!filter.terms_.empty()) {
      ASSIGN_OR_RETURN(const std::string glue, NextToken(rest));
      if (glue != "AND") return Invalid("expected AND, found " + glue);
    }
    FilterTerm term;
    ASSIGN_OR_RETURN(term.field, NextToken(rest));
    ASSIGN_OR_RETURN(term.op, NextToken(rest));
    ASSIGN_OR_RETURN(term.value, NextToken(rest));
    RETURN_IF_ERROR(CheckTerm<T>(term));
    filter.terms_.push_back(std::move(term));
    rest = std::string(absl::StripAsciiWhitespace(rest));
  }
  return filter;
}

template <typename T>
bool Filter<T>::Matches(const T& item) const {
  for (const FilterTerm& term : terms_) {
    const Looked looked = Look(item, term.field);
    if (!looked.has_value()) {
      // What has no such label has another value than any; what has no number
      // is neither equal nor unequal to one.
      if (IsLabel(term.field) && term.op == "!=") continue;
      return false;
    }
    const bool holds =
        std::holds_alternative<double>(*looked)
            ? Holds(std::get<double>(*looked), term.op, term.number)
            : Holds(std::get<std::string>(*looked), term.op, term.value);
    if (!holds) return false;
  }
  return true;
}

template class Filter<storage::TrialRow>;
template class Filter<v1::Study>;
template class Filter<v1::Worker>;
template class Filter<v1::AuditEntry>;

}  // namespace frostline::server
