// SPDX-License-Identifier: Apache-2.0
//
// File: catalogue.h
//
// The list of all metrics. docs/reference/metrics.md says the same, which a
// test checks. Label values are few and known beforehand: verbs, codes, states,
// samplers, and at most fifty studies. No trial or worker is a label.
#ifndef FROSTLINE_SERVER_METRICS_CATALOGUE_H_
#define FROSTLINE_SERVER_METRICS_CATALOGUE_H_

#include <span>
#include <string_view>

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_METRICS_CATALOGUE_H_
