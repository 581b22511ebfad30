// SPDX-License-Identifier: Apache-2.0
//
// A study is its log: from the order in which trials were leased and ended,
// and the study's seed, every proposal comes out again, bit for bit.
#include <deque>

#include "sampler/factory.h"
#include "tests/sampler/odd_spaces.h"
#include "tests/sampler/tpe/tpe_cases.h"

namespace frostline::sampler {
namespace {

struct Event {
  std::int64_t number = 0;
  bool lease = true;  // else it ended
  Observation outcome;
};

Observation Outcome(std::int64_t number, const Point& point, Rng& rng) {
  if (rng.Uniform() < 0.1) return InState(TrialState::kFailed, number, point);
  Observation trial = Succeeded(number, point, rng.Normal());
  if (rng.Uniform() < 0.2) {
    trial.state = TrialState::kPruned;
    trial.intermediate = {{1, rng.Normal()}};
    trial.values.clear();
  }
  return trial;
}

// Runs 60 trials on eight workers; what was proposed is in the history.
std::vector<Event> RunParallel(const Space& space, std::uint64_t seed,
                               History& history) {
  auto tpe = MakeTpe(space);
  Rng chance(seed + 100);
  std::vector<Event> log;
  std::vector<std::int64_t> running;
  for (std::int64_t next = 0; next < 60 || !running.empty();) {
    if (next < 60 && running.size() < 8 && chance.Uniform() < 0.7) {
      Rng rng(seed, static_cast<std::uint64_t>(next));
      const Point point = *tpe->Propose(history, next, rng);
      history.Put(InState(TrialState::kRunning, next, point));
      log.push_back({next, true, {}});
      running.push_back(next++);
    } else if (!running.empty()) {
      const auto which = running.begin() + static_cast<std::ptrdiff_t>(
                                               chance.Below(running.size()));
      const Point& point = history.Find(*which)->point;
      log.push_back({*which, false, Outcome(*which, point, chance)});
      history.Put(log.back().outcome);
      running.erase(which);
    }
  }
  return log;
}

TEST(Replay, ProposalsComeOutOfTheLogAgain) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng(seed);
    const Space space = seed % 2 == 0 ? SevenLevels(6) : OddSpace(rng, false);
    History history;
    const std::vector<Event> log = RunParallel(space, seed, history);
    History again;
    for (const Event& event : log) {
      if (!event.lease) {
        again.Put(event.outcome);
        continue;
      }
      // A fresh sampler each time: nothing but the log may matter.
      auto tpe = MakeTpe(space);
      Rng stream(seed, static_cast<std::uint64_t>(event.number));
      ASSERT_OK_AND_ASSIGN(const Point point,
                           tpe->Propose(again, event.number, stream));
      ASSERT_TRUE(SamePoint(point, history.Find(event.number)->point))
          << "seed " << seed << " trial " << event.number;
      again.Put(InState(TrialState::kRunning, event.number, point));
    }
  }
}

}  // namespace
}  // namespace frostline::sampler
