// SPDX-License-Identifier: Apache-2.0
//
// File: leader_repeats.h
//
// Picks a point to run again, so that what leads a study does not lead by the
// luck of one seed. The functions are pure, so that a study replays from its
// store.
#ifndef FROSTLINE_SERVER_SEARCH_LEADER_REPEATS_H_
#define FROSTLINE_SERVER_SEARCH_LEADER_REPEATS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "server/wire/spec.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::server {

// Counts trials below `number` with this point, pending and failed ones too.
std::int32_t RunsBefore(const History& history, const Point& point,
                        std::int64_t number);

// Picks the leading point with the fewest runs, the better one first; nothing
// while every leader has its runs or no trial has succeeded. With several
// objectives a point leads while no other dominates it.
//
// A point is judged by statistics/seed_luck.h: seen once, it has to
// be much better than one seen often, and a seed that was bad for all is held
// against none. One that could not be trained at some seed leads nothing.
// What failed or runs counts as a run, so that no point is run for ever.
std::optional<Point> LeaderToRepeat(const RepeatRule& rule,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    std::int64_t number);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_LEADER_REPEATS_H_
