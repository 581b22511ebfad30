// SPDX-License-Identifier: Apache-2.0
//
// File: number_bounds.h
#ifndef FROSTLINE_CLI_CONTRACT_NUMBER_BOUNDS_H_
#define FROSTLINE_CLI_CONTRACT_NUMBER_BOUNDS_H_

#include <google/protobuf/descriptor.h>

#include <optional>

namespace frostline::cli {

struct NumberBounds {
  std::optional<double> least;
  std::optional<double> most;
};

// What a coordinator takes for a number of a study file, as far as one number
// alone decides it. A number that is not given stands for its default, and may
// be written as 0.
NumberBounds BoundsOf(const google::protobuf::FieldDescriptor& field);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_NUMBER_BOUNDS_H_
