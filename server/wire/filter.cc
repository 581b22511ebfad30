// SPDX-License-Identifier: Apache-2.0
#include "server/wire/filter.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/rng.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"
#include "proto/rules.h"
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

// Returns what kind of value the field of T with this name has.
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

// The same for studies and workers.
template <typename T>
FieldKind KindOfField(const T&, const std::string& field) {
  const bool known = field == "state" || IsLabel(field);
  return known ? FieldKind::kText : FieldKind::kUnknown;
}

// Returns the fields of a T, each in a term that can be typed, with the study's
// own names where these are known.
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

// Replaces a bare name that is a metric or a parameter of the study, and not
// both, by that field: tables have the bare name above their columns.
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

// Returns the kind of value that parameters.NAME has; unknown when there is no
// such name.
FieldKind FindFilterParameter(const TrialNames& names, FilterTerm& term) {
  if (names.space == nullptr) return FieldKind::kUnknown;
  const auto index =
      names.space->IndexOf(term.field.substr(sizeof(kParameters) - 1));
  if (!index.has_value()) return FieldKind::kUnknown;
  term.place = static_cast<std::size_t>(*index);
  term.domain = names.space->parameters()[*term.place].domain;
  if (std::holds_alternative<Categorical>(term.domain)) return FieldKind::kText;
  // Tables show the rate 0 as "frozen".
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

// Says whether a field that is an enum can equal `value`; true for other
// fields.
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

namespace {

// Returns what `map` has for the name after the dot of "labels.team".
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
  if (absl::StartsWith(field, "labels.")) {
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

// Returns "adam" for "\"adam\"": choices are kept as JSON.
std::string WithoutQuotes(const std::string& choice) {
  const bool is_text = choice.size() >= 2 && choice.front() == '"';
  return is_text ? choice.substr(1, choice.size() - 2) : choice;
}

Looked LookAtParameter(const Point& point, const FilterTerm& term) {
  if (*term.place >= point.size() || IsAbsent(point[*term.place])) {
    return std::nullopt;
  }
  const double value = point[*term.place];
  const auto at = static_cast<std::size_t>(value);
  if (const auto* levels = std::get_if<Levels>(&term.domain)) {
    return levels->rates[at];
  }
  if (const auto* choices = std::get_if<Categorical>(&term.domain)) {
    return WithoutQuotes(choices->choices[at]);
  }
  return value;
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

// Returns "studies/imdb" for "studies/imdb/trials/7".
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

}  // namespace

Looked LookAt(const storage::TrialRow& trial, const FilterTerm& term) {
  return term.place.has_value() ? LookAtParameter(trial.point, term)
                                : Look(trial, term.field);
}

Looked LookAt(const v1::Study& study, const FilterTerm& term) {
  return Look(study, term.field);
}

Looked LookAt(const v1::Worker& worker, const FilterTerm& term) {
  return Look(worker, term.field);
}

Looked LookAt(const v1::AuditEntry& entry, const FilterTerm& term) {
  return Look(entry, term.field);
}

namespace {

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
  if (text.empty()) return InvalidFilter("the filter ends too early");
  std::size_t length = 0;
  if (text[0] == '"') {
    const std::size_t end = text.find('"', 1);
    if (end == std::string::npos) return InvalidFilter("a quote is not closed");
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

}  // namespace

TrialNames NamesOf(const CheckedStudy& study) {
  TrialNames names{&study.space, {}};
  for (const Objective& objective : study.objectives) {
    names.metrics.push_back(objective.metric);
  }
  return names;
}

template <typename T>
absl::StatusOr<Filter<T>> Filter<T>::Parse(const std::string& text,
                                           const TrialNames& names) {
  Filter filter;
  std::string rest(absl::StripAsciiWhitespace(text));
  while (!rest.empty()) {
    if (!filter.terms_.empty()) {
      ASSIGN_OR_RETURN(const std::string glue, NextToken(rest));
      if (glue != "AND") return InvalidFilter("expected AND, found " + glue);
    }
    FilterTerm term;
    ASSIGN_OR_RETURN(term.field, NextToken(rest));
    ASSIGN_OR_RETURN(term.op, NextToken(rest));
    ASSIGN_OR_RETURN(term.value, NextToken(rest));
    RETURN_IF_ERROR(CheckTerm<T>(names, term));
    filter.terms_.push_back(std::move(term));
    rest = std::string(absl::StripAsciiWhitespace(rest));
  }
  return filter;
}

template <typename T>
bool Filter<T>::Matches(const T& item) const {
  for (const FilterTerm& term : terms_) {
    const Looked looked = LookAt(item, term);
    if (!looked.has_value()) {
      // An item without the label is unequal to any value; an item without the
      // number is neither equal nor unequal to one.
      if (absl::StartsWith(term.field, "labels.") && term.op == "!=") continue;
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

namespace {

// Finds a token that is used with another list or filter; it guards no secret.
std::uint64_t Seal(const std::string& list, const std::string& filter) {
  return Fnv1a(absl::StrCat(list, "\n", filter));
}

}  // namespace

int PageSize(int asked) {
  static const auto most =
      static_cast<int>(proto::MostOf<v1::ListTrialsRequest>("page_size"));
  return asked <= 0 ? 100 : std::min(asked, most);
}

std::string MakePageToken(const std::string& list, const std::string& filter,
                          std::int64_t after) {
  return absl::StrCat(absl::Hex(Seal(list, filter), absl::kZeroPad16), "-",
                      after);
}

absl::StatusOr<std::int64_t> ParsePageToken(const std::string& list,
                                            const std::string& filter,
                                            const std::string& token,
                                            std::int64_t first) {
  if (token.empty()) return first;
  const std::vector<std::string> parts =
      absl::StrSplit(token, absl::MaxSplits('-', 1));
  std::int64_t after = 0;
  const bool good = parts.size() == 2 &&
                    parts[0] == absl::StrCat(absl::Hex(Seal(list, filter),
                                                       absl::kZeroPad16)) &&
                    absl::SimpleAtoi(parts[1], &after) && after >= first;
  if (!good) {
    return MakeError(ErrorId::kPageTokenInvalid,
                     "the page token is not from this list and filter",
                     "start again without a token", "page_token");
  }
  return after;
}

}  // namespace frostline::server
