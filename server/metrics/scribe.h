// SPDX-License-Identifier: Apache-2.0
//
// File: scribe.h
//
// Makes pages for scrapes, one at a time and at most four a second: who asks
// meanwhile gets the same. So a crowd of scrapers costs no more than one.
//
// Threads: any thread asks and goes on; one thread of its own makes pages and
// hands them over. Measuring may take seconds, and holds up nobody else.
#ifndef FROSTLINE_SERVER_METRICS_SCRIBE_H_
#define FROSTLINE_SERVER_METRICS_SCRIBE_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "server/metrics/page.h"

namespace frostline::server {

using PageText = std::shared_ptr<const std::string>;

class Scribe {
 public:
  using Measure = std::function<void(MetricsPage&)>;
  using Take = std::function<void(const PageText&)>;
  static constexpr Duration kKept = std::chrono::milliseconds(250);

  // `measure` is called on the scribe's thread; `clock` outlives it.
  Scribe(Measure measure, const Clock& clock);
  // Who still waits gets null.
  ~Scribe();
  Scribe(const Scribe&) = delete;
  Scribe& operator=(const Scribe&) = delete;

  // `take` is called once, on the scribe's thread, and does not block.
  void Ask(Take take);
  std::int64_t made() const { return made_.value(); }

 private:
  void Run();
  PageText Make();

  const Measure measure_;
  const Clock& clock_;
  Counter made_;
  PageText kept_;  // the thread's alone, as its time is
  SteadyTime kept_since_{};
  Mutex mutex_;
  CondVar wake_;
  std::vector<Take> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_METRICS_SCRIBE_H_
