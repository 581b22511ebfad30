// SPDX-License-Identifier: Apache-2.0
#include "server/notify/ended_study.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/ids.h"
#include "base/plain/json.h"

namespace frostline::server {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

std::string Object(const Members& members) {
  return absl::StrCat("{",
                      absl::StrJoin(members, ",",
                                    [](std::string* out, const auto& member) {
                                      absl::StrAppend(out,
                                                      JsonString(member.first),
                                                      ":", member.second);
                                    }),
                      "}");
}

std::string EndNameOf(storage::StudyState state) {
  switch (state) {
    case storage::StudyState::kActive:
      return "ACTIVE";
    case storage::StudyState::kPaused:
      return "PAUSED";
    case storage::StudyState::kStopped:
      return "STOPPED";
    case storage::StudyState::kCompleted:
      return "COMPLETED";
    case storage::StudyState::kDeleted:
      return "DELETED";
  }
  return "";
}

std::string EndedTrialsOf(const StudyBook& book) {
  Members counts;
  for (const auto& [state, name] :
       {std::pair{TrialState::kSucceeded, "succeeded"},
        std::pair{TrialState::kPruned, "pruned"},
        std::pair{TrialState::kInfeasible, "infeasible"},
        std::pair{TrialState::kFailed, "failed"},
        std::pair{TrialState::kCancelled, "cancelled"},
        std::pair{TrialState::kRunning, "running"},
        std::pair{TrialState::kQueued, "queued"}}) {
    counts.emplace_back(name, absl::StrCat(book.Count(state)));
  }
  return Object(counts);
}

// It is null when no trial has succeeded.
std::string BestOf(const StudyBook& book) {
  const auto best = book.best().First();
  if (!best.has_value()) return "null";
  const std::vector<Objective>& objectives = book.checked().objectives;
  Members values;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const double value = best->values[i];
    values.emplace_back(objectives[i].metric,
                        std::isfinite(value) ? JsonNumber(value) : "null");
  }
  return Object(
      {{"trial", JsonString(TrialNameOf(book.row().id, best->number))},
       {"number", absl::StrCat(best->number)},
       {"values", Object(values)}});
}

}  // namespace

std::string DescribeEnd(const StudyBook& book, WallMicros end) {
  const storage::StudyRow& row = book.row();
  const std::string described =
      Object({{"study", JsonString(row.id)},
              {"state", JsonString(EndNameOf(row.state))},
              {"reason", JsonString(row.state_reason)},
              {"end_time", JsonString(FormatWall(end))},
              {"trials", EndedTrialsOf(book)},
              {"best", BestOf(book)}});
  return described.substr(1);
}

std::string EndedStudy(const std::string& delivery,
                       const std::string& notification,
                       const std::string& described) {
  const std::string first =
      Object({{"event", JsonString("study_ended")},
              {"delivery", JsonString(delivery)},
              {"notification", JsonString(notification)}});
  return absl::StrCat(first.substr(0, first.size() - 1), ",", described);
}

}  // namespace frostline::server
