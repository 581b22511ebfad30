// SPDX-License-Identifier: Apache-2.0
#include "cli/report/ranked_points.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "frostline/v1/study_service.grpc.pb.h"
#include "statistics/seed_luck.h"

namespace frostline::cli {
namespace {

using Values = std::map<std::string, std::string>;

std::string KeyOf(const Values& values) {
  std::string key;
  for (const auto& [name, value] : values) {
    absl::StrAppend(&key, name, "=", value, "\n");
  }
  return key;
}

}  // namespace

std::string PointKeyOf(const v1::Trial& trial) {
  Values values;
  for (const v1::ParameterValue& value : trial.parameters()) {
    values[value.name()] = value.value().SerializeAsString();
  }
  return KeyOf(values);
}

std::string PointKeyOf(const v1::EnqueuedTrial& enqueued) {
  Values values;
  for (const auto& [name, value] : enqueued.values()) {
    values[name] = value.SerializeAsString();
  }
  return KeyOf(values);
}

namespace {

using Studies = v1::StudyService::Stub;

double MeanOf(const std::vector<v1::Trial>& trials) {
  double sum = 0.0;
  for (const v1::Trial& trial : trials) sum += trial.values(0);
  return sum / static_cast<double>(trials.size());
}

void Judge(std::vector<RankedPoint>& points) {
  std::vector<statistics::PointRun> runs;
  for (std::size_t p = 0; p < points.size(); ++p) {
    points[p].mean = MeanOf(points[p].trials);
    for (const v1::Trial& trial : points[p].trials) {
      runs.push_back({p, trial.seed(), trial.values(0)});
    }
  }
  const auto judged = statistics::JudgePoints(points.size(), runs);
  for (std::size_t p = 0; p < points.size(); ++p) {
    points[p].judged = judged[p];
  }
}

}  // namespace

std::vector<RankedPoint> RankPoints(const v1::Study& study,
                                    const std::vector<v1::Trial>& trials) {
  std::vector<std::string> keys;
  std::vector<RankedPoint> points;
  for (const v1::Trial& trial : trials) {
    if (trial.state() != v1::TRIAL_STATE_SUCCEEDED || trial.values().empty()) {
      continue;
    }
    const std::string key = PointKeyOf(trial);
    const auto found = std::find(keys.begin(), keys.end(), key);
    const auto place = static_cast<std::size_t>(found - keys.begin());
    if (found == keys.end()) {
      keys.push_back(key);
      points.emplace_back();
    }
    points[place].trials.push_back(trial);
  }
  Judge(points);
  const bool smaller_is_better =
      study.spec().objectives_size() > 0 &&
      study.spec().objectives(0).direction() == v1::DIRECTION_MINIMIZE;
  std::stable_sort(
      points.begin(), points.end(),
      [smaller_is_better](const RankedPoint& a, const RankedPoint& b) {
        return smaller_is_better ? a.judged < b.judged : a.judged > b.judged;
      });
  return points;
}

absl::StatusOr<std::vector<RankedPoint>> FetchRankedPoints(
    Client& client, const std::string& study) {
  v1::GetStudyRequest asked;
  asked.set_name(study);
  ASSIGN_OR_RETURN(const v1::Study found,
                   client.Call(&Studies::GetStudy, asked));
  v1::ListTrialsRequest request;
  request.set_parent(study);
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(const v1::ListTrialsReply reply,
                   client.CallForAll(&Studies::ListTrials, request));
  return RankPoints(found, {reply.trials().begin(), reply.trials().end()});
}

}  // namespace frostline::cli
