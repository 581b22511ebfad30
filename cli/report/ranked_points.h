// SPDX-License-Identifier: Apache-2.0
//
// File: ranked_points.h
//
// The points of a study, ranked by all runs of each point together
// (statistics/seed_luck.h). Equal points are ordered by which was tried first.
// One lucky run does not rank above a point that did well three times, and a
// point that happened to have no unlucky seed does not rank above those that
// had.
#ifndef FROSTLINE_CLI_REPORT_RANKED_POINTS_H_
#define FROSTLINE_CLI_REPORT_RANKED_POINTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// The identity of a point: two trials tried the same point when all parameters
// have the same values.

// Returns a key that is equal for equal points and only for those. Enqueued
// points must not have a strategy.
std::string PointKeyOf(const v1::Trial& trial);
std::string PointKeyOf(const v1::EnqueuedTrial& enqueued);

// A point and the runs of it.
struct RankedPoint {
  double judged = 0.0;            // the value for the ranking
  double mean = 0.0;              // over its runs
  std::vector<v1::Trial> trials;  // the succeeded ones, in order

  // Returns the parameters, which all its trials share.
  const google::protobuf::RepeatedPtrField<v1::ParameterValue>& values() const {
    return trials[0].parameters();
  }
};

// Ranks the points of the trials that succeeded, the best first.
std::vector<RankedPoint> RankPoints(const v1::Study& study,
                                    const std::vector<v1::Trial>& trials);

// Fetches the trials of "studies/ID" in the FULL view and ranks their points.
absl::StatusOr<std::vector<RankedPoint>> FetchRankedPoints(
    Client& client, const std::string& study);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_RANKED_POINTS_H_
