// SPDX-License-Identifier: Apache-2.0
//
// File: space_from_proto.h
//
// Only shapes are checked here; study/ checks what they mean.
#ifndef FROSTLINE_SERVER_WIRE_SPACE_FROM_PROTO_H_
#define FROSTLINE_SERVER_WIRE_SPACE_FROM_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "frostline/v1/study.pb.h"
#include "study/freezing.h"
#include "study/space.h"

namespace frostline::server {

absl::StatusOr<Space> SpaceFromProto(const v1::SearchSpace& proto,
                                     const ModelShape& shape);

absl::StatusOr<Strategy> StrategyFromProto(const v1::Strategy& proto,
                                           const std::string& field);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_SPACE_FROM_PROTO_H_
