// SPDX-License-Identifier: Apache-2.0
#include "server/search/leader_repeats.h"

#include <algorithm>
#include <vector>

#include "statistics/seed_luck.h"
#include "study/point.h"

namespace frostline::server {
namespace {

// What is known of one point.
struct Candidate {
  const Point* point = nullptr;
  int runs = 0;
  bool diverged = false;
  std::vector<const Observation*> results;
  std::vector<double> losses;  // by objective, as judged
};

void Add(const Observation& trial, const std::vector<Objective>& objectives,
         Candidate& candidate) {
  ++candidate.runs;
  candidate.diverged |= trial.state == TrialState::kInfeasible;
  if (trial.state != TrialState::kSucceeded ||
      trial.values.size() != objectives.size()) {
    return;
  }
  candidate.results.push_back(&trial);
}

// Those numbered below `number`, by number: after a restart the history has
// another order than before.
std::vector<const Observation*> TrialsBelow(const History& history,
                                            std::int64_t number) {
  std::vector<const Observation*> trials;
  for (const Observation& trial : history.trials()) {
    if (trial.number < number) trials.push_back(&trial);
  }
  std::sort(trials.begin(), trials.end(),
            [](const Observation* a, const Observation* b) {
              return a->number < b->number;
            });
  return trials;
}

// In the order in which points were first run.
std::vector<Candidate> CandidatesOf(const std::vector<Objective>& objectives,
                                    const History& history,
                                    std::int64_t number) {
  std::vector<Candidate> candidates;
  PointPlaces places;
  for (const Observation* const trial : TrialsBelow(history, number)) {
    const std::size_t place = places.PlaceOf(trial->point);
    if (place == candidates.size()) {
      candidates.push_back(
          {.point = &trial->point, .results = {}, .losses = {}});
    }
    Add(*trial, objectives, candidates[place]);
  }
  std::erase_if(candidates, [](const Candidate& candidate) {
    return candidate.results.empty() || candidate.diverged;
  });
  return candidates;
}

void Judge(const std::vector<Objective>& objectives,
           std::vector<Candidate>& candidates) {
  for (std::size_t k = 0; k < objectives.size(); ++k) {
    std::vector<statistics::PointRun> runs;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      for (const Observation* const run : candidates[c].results) {
        runs.push_back({c, run->seed, AsLoss(objectives[k], run->values[k])});
      }
    }
    const auto judged = statistics::JudgePoints(candidates.size(), runs);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      candidates[c].losses.push_back(judged[c]);
    }
  }
}

// Those that no other dominates, in their order.
std::vector<Candidate> FrontOf(const std::vector<Candidate>& candidates) {
  std::vector<Candidate> front;
  for (const Candidate& candidate : candidates) {
    const bool beaten =
        std::any_of(front.begin(), front.end(), [&](const Candidate& other) {
          return Dominates(other.losses, candidate.losses);
        });
    if (beaten) continue;
    std::erase_if(front, [&](const Candidate& other) {
      return Dominates(candidate.losses, other.losses);
    });
    front.push_back(candidate);
  }
  return front;
}

}  // namespace

std::int32_t RunsBefore(const History& history, const Point& point,
                        std::int64_t number) {
  std::int32_t runs = 0;
  for (const Observation& trial : history.trials()) {
    runs += trial.number < number && SamePoint(trial.point, point);
  }
  return runs;
}

std::optional<Point> LeaderToRepeat(const RepeatRule& rule,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    std::int64_t number) {
  if (rule.times == 0) return std::nullopt;
  std::vector<Candidate> leaders = CandidatesOf(objectives, history, number);
  if (leaders.empty()) return std::nullopt;
  Judge(objectives, leaders);
  if (objectives.size() > 1) {
    leaders = FrontOf(leaders);
  } else {
    std::stable_sort(leaders.begin(), leaders.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.losses[0] < b.losses[0];
                     });
  }
  const auto most = static_cast<std::size_t>(rule.leaders);
  if (leaders.size() > most) leaders.resize(most);
  const auto next = std::min_element(
      leaders.begin(), leaders.end(),
      [](const Candidate& a, const Candidate& b) { return a.runs < b.runs; });
  if (next->runs >= rule.times) return std::nullopt;
  return *next->point;
}

}  // namespace frostline::server
