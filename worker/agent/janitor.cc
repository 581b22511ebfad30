// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/janitor.h"

#include <algorithm>

namespace frostline::agent {
namespace {

constexpr Duration kJanitorSleep = std::chrono::hours(1);
constexpr Duration kShortestCleaningPause = std::chrono::milliseconds(200);
// Of its time it spends at most a tenth on looking through folders.
constexpr int kPauseFactor = 10;

}  // namespace

Janitor::Janitor(TrialFolders& folders, const KeepRules& rules)
    : folders_(folders), rules_(rules), thread_([this] { Loop(); }) {}

Janitor::~Janitor() {
  stopped_ = true;
  wakeup_.Ring();
  thread_.join();
}

void Janitor::Loop() {
  const SystemClock clock;
  while (!stopped_) {
    const SteadyTime start = clock.Steady();
    folders_.Clean(rules_);
    const Duration took = clock.Steady() - start;
    const SteadyTime until =
        clock.Steady() + std::max(kShortestCleaningPause, took * kPauseFactor);
    bool rang = false;
    while (!stopped_ && clock.Steady() < until) {
      rang = wakeup_.WaitFor(until - clock.Steady()) || rang;
    }
    if (!stopped_ && !rang) wakeup_.WaitFor(kJanitorSleep);
  }
}

}  // namespace frostline::agent
