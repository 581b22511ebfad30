// SPDX-License-Identifier: Apache-2.0
//
// File: space.h
//
// A study's space and its points, from the contract's messages and back.
#ifndef FROSTLINE_SERVER_WIRE_SPACE_H_
#define FROSTLINE_SERVER_WIRE_SPACE_H_

#include <string>

#include "absl/status/statusor.h"
#include "frostline/v1/study.pb.h"
#include "google/protobuf/struct.pb.h"
#include "study/freezing.h"
#include "study/space.h"

namespace frostline::server {

// Returns the JSON text of a choice: "\"adam\"", "16".
std::string ChoiceText(const google::protobuf::Value& value);

// Returns a level or rate as a number (frozen is 0), a choice as its JSON
// value.
google::protobuf::Value ValueToProto(const Domain& domain, double value);
absl::StatusOr<double> ValueFromProto(const Domain& domain,
                                      const google::protobuf::Value& value,
                                      const std::string& field);

// Parameters that are not named are absent from the point.
absl::StatusOr<Point> PointFromValues(
    const Space& space,
    const google::protobuf::Map<std::string, google::protobuf::Value>& values,
    const std::string& field);

// Returns the point in which every module has the strategy's rate; parameters
// of no module are absent. The error is VALUE_OUT_OF_SPACE when there is no
// such point.
absl::StatusOr<Point> PointFromStrategy(const Space& space,
                                        const ModelShape& shape,
                                        const Strategy& strategy,
                                        const std::string& field);

// Reads a space. Only the form is checked here; study/ checks the meaning.

absl::StatusOr<Space> SpaceFromProto(const v1::SearchSpace& proto,
                                     const ModelShape& shape);

absl::StatusOr<Strategy> StrategyFromProto(const v1::Strategy& proto,
                                           const std::string& field);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_SPACE_H_
