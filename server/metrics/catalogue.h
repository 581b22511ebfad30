// SPDX-License-Identifier: Apache-2.0
//
// File: catalogue.h
//
// All metrics, once. docs/reference/metrics.md says the same, which a test
// checks. Values of labels are few and known beforehand: verbs, codes, states,
// samplers, and no more than fifty studies. No trial or worker is a label.
#ifndef FROSTLINE_SERVER_METRICS_CATALOGUE_H_
#define FROSTLINE_SERVER_METRICS_CATALOGUE_H_

#include <span>
#include <string_view>

namespace frostline::server {

enum class MetricType { kCounter, kGauge, kHistogram };

struct MetricKind {
  const char* name;
  MetricType type;
  const char* labels;  // "verb, code"; may be empty
  const char* help;
};

// In the order of the page.
std::span<const MetricKind> AllMetrics();

// Returns null for a name that is not there.
const MetricKind* FindMetric(std::string_view name);

const char* NameOf(MetricType type);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_METRICS_CATALOGUE_H_
