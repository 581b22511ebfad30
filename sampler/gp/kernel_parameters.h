// SPDX-License-Identifier: Apache-2.0
//
// File: kernel_parameters.h
//
// The numbers of a kernel that are learnt.
#ifndef FROSTLINE_SAMPLER_GP_KERNEL_PARAMETERS_H_
#define FROSTLINE_SAMPLER_GP_KERNEL_PARAMETERS_H_

#include <cstddef>
#include <vector>

namespace frostline {

// In logarithms (ties: log-odds) so that any number is valid:
// the shared ones, then a relevance for each axis, then a length for each axis,
// both relative to the shared ones.
enum SharedParameter : std::size_t {
  kNoise,
  kAdditive,
  kJoint,
  kStrength,
  kLength,
  kFrozenTie,
  kStudyTie,
  kSharedParameters
};
using KernelParameters = std::vector<double>;

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_KERNEL_PARAMETERS_H_
