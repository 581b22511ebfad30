// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/sql.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

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
