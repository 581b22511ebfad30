// SPDX-License-Identifier: Apache-2.0
//
// File: ranked_points.h
//
// The points of a study, ranked by all runs of each together
// (statistics/seed_luck.h), of equals the one that was tried first:
// one lucky run does not go before a point that did well three times, nor a
// point that was spared an unlucky seed before those that were not.
#ifndef FROSTLINE_CLI_REPORT_RANKED_POINTS_H_
#define FROSTLINE_CLI_REPORT_RANKED_POINTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// Whether trials tried the same point: all parameters have the same values.

// Of equal points equal, and of no others. What is enqueued has no strategy.
std::string PointKeyOf(const v1::Trial& trial);
std::string PointKeyOf(const v1::EnqueuedTrial& enqueued);

struct RankedPoint {
  double judged = 0.0;            // what they are ranked by
  double mean = 0.0;              // of its runs
  std::vector<v1::Trial> trials;  // those that succeeded, the earlier first

  // The parameters of each of its trials.
  const google::protobuf::RepeatedPtrField<v1::ParameterValue>& values() const {
    return trials[0].parameters();
  }
};

// Of trials that succeeded, the best first.
std::vector<RankedPoint> RankPoints(const v1::Study& study,
                                    const std::vector<v1::Trial>& trials);

// Of "studies/ID", its trials in the FULL view.
absl::StatusOr<std::vector<RankedPoint>> FetchRankedPoints(
    Client& client, const std::string& study);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_RANKED_POINTS_H_
