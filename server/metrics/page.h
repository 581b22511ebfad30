// SPDX-License-Identifier: Apache-2.0
//
// File: page.h
//
// One answer to a scrape, in Prometheus's text format:
//
//   MetricsPage page;
//   page.Set("frostline_trials", 7, {{"state", "QUEUED"}});
//   page.Text();
//
// It is made anew for each scrape. Only this file's source knows the library.
#ifndef FROSTLINE_SERVER_METRICS_PAGE_H_
#define FROSTLINE_SERVER_METRICS_PAGE_H_

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"

namespace frostline::server {

// It is not thread-safe.
class MetricsPage {
 public:
  using Labels = std::initializer_list<std::pair<const char*, std::string>>;

  MetricsPage();
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // REQUIRES: AllMetrics() has the name, of this type, with these labels.
  void Set(const char* name, double value, Labels labels = {});
  void Set(const char* name, std::int64_t value, Labels labels = {}) {
    Set(name, static_cast<double>(value), labels);
  }
  void Set(const char* name, const Counter& counter, Labels labels = {}) {
    Set(name, counter.value(), labels);
  }
  void Set(const char* name, const Histogram& histogram, Labels labels = {});

  std::string Text() const;

 private:
  class Families;
  std::unique_ptr<Families> families_;
};

// Writes what /proc says of this process. What cannot be read is left out.
void WriteProcess(MetricsPage& page);

// Makes pages for scrapes, one at a time and at most four a second: who asks
// meanwhile gets the same. So a crowd of scrapers costs no more than one.
//
// Threads: any thread asks and goes on; one thread of its own makes pages and
// hands them over. Measuring may take seconds, and holds up nobody else.
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

#endif  // FROSTLINE_SERVER_METRICS_PAGE_H_
