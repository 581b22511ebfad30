// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/scribe.h"

#include <utility>

namespace frostline::server {

Scribe::Scribe(Measure measure, const Clock& clock)
    : measure_(std::move(measure)), clock_(clock), thread_([this] { Run(); }) {}

Scribe::~Scribe() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
  }
  wake_.SignalAll();
  thread_.join();
}

void Scribe::Ask(Take take) {
  {
    const MutexLock lock(&mutex_);
    waiting_.push_back(std::move(take));
  }
  wake_.SignalAll();
}

void Scribe::Run() {
  bool stopping = false;
  while (!stopping) {
    std::vector<Take> served;
    {
      const MutexLock lock(&mutex_);
      while (waiting_.empty() && !stopping_) wake_.Wait(&mutex_);
      served.swap(waiting_);
      stopping = stopping_;
    }
    const PageText page = stopping || served.empty() ? nullptr : Make();
    for (const Take& take : served) take(page);
  }
}

PageText Scribe::Make() {
  const SteadyTime now = clock_.Steady();
  if (kept_ != nullptr && now < kept_since_ + kKept) return kept_;
  made_.Add();
  MetricsPage page;
  measure_(page);
  page.Set("frostline_scrapes_total", made_);
  kept_ = std::make_shared<const std::string>(page.Text());
  kept_since_ = now;
  return kept_;
}

}  // namespace frostline::server
