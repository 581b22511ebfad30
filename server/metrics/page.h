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
// A new page is made for each scrape. Only this file's source knows the
// library.
#ifndef FROSTLINE_SERVER_METRICS_PAGE_H_
#define FROSTLINE_SERVER_METRICS_PAGE_H_

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"

namespace frostline::server {

// The list of all metrics. docs/reference/metrics.md says the same, which a
// test checks. Label values are few and known beforehand: verbs, codes, states,
// samplers, and at most fifty studies. No trial or worker is a label.

enum class MetricType { kCounter, kGauge, kHistogram };

// What is known of a metric before it is counted.
struct MetricKind {
  const char* name;
  MetricType type;
  const char* labels;  // "verb, code"; may be empty
  const char* help;
};

// Returns all metrics, in the order of the page.
std::span<const MetricKind> AllMetrics();

// Returns null for an unknown name.
const MetricKind* FindMetric(std::string_view name);

const char* NameOf(MetricType type);

// A page of metrics. Not thread-safe.
class MetricsPage {
 public:
  using Labels = std::initializer_list<std::pair<const char*, std::string>>;

  MetricsPage();
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Sets one value. REQUIRES: AllMetrics() has the name, of this type, with
  // these labels.
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

// The text of a page, shared by all who wait for it.
using PageText = std::shared_ptr<const std::string>;

// Makes pages for scrapes, one at a time and at most four a second; whoever
// asks meanwhile gets the same page. So many scrapers cost no more than one.
//
// Threads: any thread asks and does not wait. A thread of the scribe's own
// makes pages and hands them over; measuring may take seconds there, and holds
// up nobody else.
class PageMaker {
 public:
  using Measure = std::function<void(MetricsPage&)>;
  using Take = std::function<void(const PageText&)>;
  static constexpr Duration kKept = std::chrono::milliseconds(250);

  // `measure` is called on this object's thread; `clock` outlives it.
  PageMaker(Measure measure, const Clock& clock);
  // Gives null to all who still wait.
  ~PageMaker();
  PageMaker(const PageMaker&) = delete;
  PageMaker& operator=(const PageMaker&) = delete;

  // Asks for a page. `take` is called once, on the scribe's thread, and does
  // not block.
  void Ask(Take take);
  std::int64_t made() const { return made_.value(); }

 private:
  void Run();
  PageText Make();

  const Measure measure_;
  const Clock& clock_;
  Counter made_;
  PageText kept_;  // used by the thread alone, as is its time
  SteadyTime kept_since_{};
  Mutex mutex_;
  CondVar wake_;
  std::vector<Take> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_METRICS_PAGE_H_
