// SPDX-License-Identifier: Apache-2.0
//
// File: brackets.h
//
// How hyperband deals trials out to its brackets: at random in effect, in fixed
// shares, always the same way for one study and number.
#ifndef FROSTLINE_SAMPLER_PRUNER_BRACKETS_H_
#define FROSTLINE_SAMPLER_PRUNER_BRACKETS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace frostline::sampler {

// floor(log(max / min, reduction)) + 1, in floating point as it was recorded.
// REQUIRES: 1 <= min_resource <= max_resource, reduction >= 2.
std::size_t CountBrackets(std::int64_t min_resource, std::int64_t max_resource,
                          std::int64_t reduction);

// Trials of each bracket out of the sum of all.
std::vector<std::int64_t> BracketShares(std::size_t brackets,
                                        std::int64_t reduction);

// REQUIRES: shares come from BracketShares.
std::size_t BracketOf(std::string_view study, std::int64_t number,
                      const std::vector<std::int64_t>& shares);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_BRACKETS_H_
