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

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "base/metrics.h"

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_METRICS_PAGE_H_
