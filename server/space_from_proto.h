// SPDX-License-Identifier: Apache-2.0
//
// File: space_from_proto.h
//
// The search space between its form on the wire and ours, in both directions.
// What it means is checked by study/; here are only the shapes.
#ifndef FROSTLINE_SERVER_SPACE_FROM_PROTO_H_
#define FROSTLINE_SERVER_SPACE_FROM_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "frostline/v1/study.pb.h"
#include "study/model_shape.h"
#include "study/space.h"
#include "study/strategy.h"

namespace frostline {

absl::StatusOr<Space> SpaceFromProto(const v1::SearchSpace& proto,
                                     const ModelShape& shape);

absl::StatusOr<Strategy> StrategyFromProto(const v1::Strategy& proto,
                                           const std::string& field);

// A value as the wire has it: a level or rate as a number (frozen is 0), a
// choice as its JSON value.
google::protobuf::Value ValueToProto(const Domain& domain, double value);
absl::StatusOr<double> ValueFromProto(const Domain& domain,
                                      const google::protobuf::Value& value,
                                      const std::string& field);

// A point from values by parameter name; those not named are absent.
absl::StatusOr<Point> PointFromValues(
    const Space& space,
    const google::protobuf::Map<std::string, google::protobuf::Value>& values,
    const std::string& field);

// The point at which every module has the strategy's rate; parameters that are
// of no module are absent. VALUE_OUT_OF_SPACE when the space has no such point.
absl::StatusOr<Point> PointFromStrategy(const Space& space,
                                        const ModelShape& shape,
                                        const Strategy& strategy,
                                        const std::string& field);

}  // namespace frostline

#endif  // FROSTLINE_SERVER_SPACE_FROM_PROTO_H_
