// SPDX-License-Identifier: Apache-2.0
//
// File: filter.h
//
// A filter is terms joined by AND, each `field op value`.
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
// Trials are looked at as rows, so that none is rendered to be left out. Text
// has the operators = and !=, numbers also < <= > >=. Text may be quoted. An
// item without the label matches `labels.NAME != x`; one without the metric or
// value matches no term of it.
#ifndef FROSTLINE_SERVER_WIRE_FILTER_H_
#define FROSTLINE_SERVER_WIRE_FILTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/worker.pb.h"
#include "server/wire/filter_term.h"
#include "server/wire/spec_check.h"
#include "storage/rows.h"

namespace frostline::server {

TrialNames NamesOf(const CheckedStudy& study);

// Parse() answers FILTER_INVALID for what it cannot read, what names no field
// of T, or what can never hold.
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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_FILTER_H_
