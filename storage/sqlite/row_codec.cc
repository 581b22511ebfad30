// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/row_codec.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "storage/row_codec.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage::sql {
namespace {

std::set<int> StatesOf(const TrialQuery& query) {
  std::set<int> states;
  for (const TrialState state : query.states) {
    states.insert(static_cast<int>(state));
  }
  return states;
}

}  // namespace

std::string ListTrialsSql(const TrialQuery& query) {
  const std::set<int> states = StatesOf(query);
  if (query.order == TrialQuery::Order::kRevision) {
    const std::string wanted =
        states.empty()
            ? ""
            : absl::StrCat(" AND state IN (", absl::StrJoin(states, ", "), ")");
    return absl::StrCat(kListTrialsByRevision, wanted,
                        " ORDER BY revision, number LIMIT ?3");
  }
  if (states.empty()) return kListTrials;
  std::vector<std::string> parts;
  for (const int state : states) {
    parts.push_back(absl::StrCat(kListTrialsOfState, state));
  }
  return absl::StrCat(absl::StrJoin(parts, " UNION ALL "),
                      " ORDER BY number LIMIT ?3");
}

}  // namespace frostline::storage::sql

namespace frostline::storage {

template <typename Row>
void BindRow(const Row& row, Statement& statement) {
  WriteRow(row, statement);
}

template <typename Row>
void BindChanging(const Row& row, Statement& statement) {
  WriteChanging(row, statement);
}

template <typename Row>
absl::StatusOr<Row> ReadRow(const Statement& statement) {
  return ReadSealed<Row>(statement);
}

template void BindChanging(const StudyRow&, Statement&);
template void BindChanging(const TrialRow&, Statement&);

#define FROSTLINE_CODEC_(Row)                    \
  template void BindRow(const Row&, Statement&); \
  template absl::StatusOr<Row> ReadRow<Row>(const Statement&)
FROSTLINE_CODEC_(StudyRow);
FROSTLINE_CODEC_(TrialRow);
FROSTLINE_CODEC_(AttemptRow);
FROSTLINE_CODEC_(MeasurementRow);
FROSTLINE_CODEC_(OutcomeRow);
FROSTLINE_CODEC_(LogRow);
FROSTLINE_CODEC_(WorkerRow);
FROSTLINE_CODEC_(TokenRow);
FROSTLINE_CODEC_(CertificateRow);
FROSTLINE_CODEC_(AuditRow);
FROSTLINE_CODEC_(NotificationRow);
FROSTLINE_CODEC_(ReplyRow);
FROSTLINE_CODEC_(SummaryRow);
FROSTLINE_CODEC_(BestRow);
FROSTLINE_CODEC_(LeadRow);
#undef FROSTLINE_CODEC_

}  // namespace frostline::storage
