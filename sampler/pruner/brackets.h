// SPDX-License-Identifier: Apache-2.0
//
// File: brackets.h
//
// Hyperband deals trials out at random in effect, in fixed shares, always the
// same way for one study and number.
#ifndef FROSTLINE_SAMPLER_PRUNER_BRACKETS_H_
#define FROSTLINE_SAMPLER_PRUNER_BRACKETS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace frostline::sampler {

// Returns floor(log(max / min, reduction)) + 1, in floating point. REQUIRES: 1
// <= min_resource <= max_resource, reduction >= 2.
std::size_t CountBrackets(std::int64_t min_resource, std::int64_t max_resource,
                          std::int64_t reduction);

// Counts the trials of each bracket out of the sum of all.
std::vector<std::int64_t> BracketShares(std::size_t brackets,
                                        std::int64_t reduction);

// REQUIRES: shares come from BracketShares.
std::size_t BracketOf(std::string_view study, std::int64_t number,
                      const std::vector<std::int64_t>& shares);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_BRACKETS_H_
