// SPDX-License-Identifier: Apache-2.0
//
// File: scaler_query.h
//
// What a trigger of KEDA asks for, by its metadata:
//
//   study: imdb        of this study alone; else of all that the caller may see
//   labels: gpu=a100   what the workers that are started will carry
//   slots: "4"         trials that each of them will run at a time
//
// KEDA sends its own keys too, and `studyFromEnv` with the value of that
// variable, which stands for `study`.
#ifndef FROSTLINE_SERVER_WIRE_SCALER_QUERY_H_
#define FROSTLINE_SERVER_WIRE_SCALER_QUERY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "grpc/externalscaler/externalscaler.pb.h"

namespace frostline::server {

// The name of the only metric there is.
inline constexpr char kUnclaimedTrials[] = "frostline-unclaimed-trials";

struct ScalerQuery {
  std::string study = {};  // "studies/imdb"; empty: all
  std::map<std::string, std::string> labels = {};
  std::int64_t slots = 1;
};

// The error is REQUEST_INVALID or NAME_INVALID at the key. Unknown keys are
// errors too: with a misspelt key KEDA would scale by something else.
absl::StatusOr<ScalerQuery> ParseScalerQuery(
    const externalscaler::ScaledObjectRef& asked);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_SCALER_QUERY_H_
