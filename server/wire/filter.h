// SPDX-License-Identifier: Apache-2.0
//
// File: filter.h
//
// A filter of a list: terms joined by AND, each `field op value`.
//
//   trials    state = SUCCEEDED AND values[0] > 0.9 AND labels.kind = "base"
//             fields: state, origin, worker, number, attempt, values[i],
//                     metrics.NAME, parameters.NAME, labels.NAME; also the
//                     bare name of an objective or a parameter of the study
//   studies   state = ACTIVE AND labels.team = "nlp"
//   workers   state = ACTIVE AND labels.pool = "a100"
//   audit     subject = "ana" AND study = "studies/imdb"
//             fields: subject, role, method, study, outcome, address
//
// Trials are matched as rows, so that no trial is rendered only to be left out.
// Text has the operators = and !=, numbers also < <= > >=. Text may be quoted.
// An item without the label matches `labels.NAME != x`; one without the metric
// or value matches no term about it.
#ifndef FROSTLINE_SERVER_WIRE_FILTER_H_
#define FROSTLINE_SERVER_WIRE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/worker.pb.h"
#include "server/wire/spec.h"
#include "storage/rows.h"
#include "study/space.h"

namespace frostline::server {

// The names that a study's trials may have in a filter. It outlives the parsing
// of the filter.
struct TrialNames {
  const Space* space = nullptr;  // null: no parameter names are known
  std::vector<std::string> metrics;
};

struct FilterTerm {
  std::string field;  // "values[0]", "labels.team"
  std::string op;
  std::string value;
  double number = 0.0;  // if the field is a number
  // For parameters.NAME: where a point has it, and what its number means there.
  std::optional<std::size_t> place = {};
  Domain domain = {};
};

// Returns FILTER_INVALID.
absl::Status InvalidFilter(const std::string& cause);

// Checks that the term names a field of T and can hold. Where the term has the
// bare name of an objective or a parameter, it is replaced by the full one; the
// number is read where the field is one; and the parameter's place in a point
// is found.
template <typename T>
absl::Status CheckTerm(const TrialNames& names, FilterTerm& term);

// The value of a field. Nothing: the item has no such label, metric or value.
using Looked = std::optional<std::variant<std::string, double>>;

// Returns what an item has in the field of a term. REQUIRES: CheckTerm() has
// accepted the term.
Looked LookAt(const storage::TrialRow& trial, const FilterTerm& term);
Looked LookAt(const v1::Study& study, const FilterTerm& term);
Looked LookAt(const v1::Worker& worker, const FilterTerm& term);
Looked LookAt(const v1::AuditEntry& entry, const FilterTerm& term);

TrialNames NamesOf(const CheckedStudy& study);

// A parsed filter. Parse() returns FILTER_INVALID for what it cannot read, what
// names no field of T, and what can never hold.
template <typename T>
class Filter {
 public:
  static absl::StatusOr<Filter> Parse(const std::string& text,
                                      const TrialNames& names = {});
  bool Matches(const T& item) const;
  const std::vector<FilterTerm>& terms() const { return terms_; }

 private:
  std::vector<FilterTerm> terms_;
};

using TrialFilter = Filter<storage::TrialRow>;
using StudyFilter = Filter<v1::Study>;
using WorkerFilter = Filter<v1::Worker>;
using AuditFilter = Filter<v1::AuditEntry>;

extern template class Filter<storage::TrialRow>;
extern template class Filter<v1::Study>;
extern template class Filter<v1::Worker>;
extern template class Filter<v1::AuditEntry>;

// The most bytes of a page: less than what gRPC clients accept by default (4
// MiB), more than any one trial or study has.
inline constexpr std::size_t kMostPageBytes = 3 * 1024 * 1024;

// Returns how many items a page has: 100 if 0 were asked for, and at most
// 1,000.
int PageSize(int asked);

std::string MakePageToken(const std::string& list, const std::string& filter,
                          std::int64_t after);

// Returns `first` for an empty token. The error is PAGE_TOKEN_INVALID for a
// token of another list or filter.
absl::StatusOr<std::int64_t> ParsePageToken(const std::string& list,
                                            const std::string& filter,
                                            const std::string& token,
                                            std::int64_t first = 0);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_FILTER_H_
