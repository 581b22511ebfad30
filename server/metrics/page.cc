// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/page.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cassert>
#include <vector>

#include "server/metrics/catalogue.h"

namespace frostline::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

prometheus::MetricType TypeOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

ClientMetric::Histogram Cumulated(const Histogram& histogram) {
  ClientMetric::Histogram cumulated;
  const std::vector<std::int64_t> counts = histogram.Counts();
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    so_far += static_cast<std::uint64_t>(counts[i]);
    cumulated.bucket.push_back({so_far, histogram.bounds()[i]});
  }
  // The sum of these very counts: more may have come since.
  cumulated.sample_count = so_far + static_cast<std::uint64_t>(counts.back());
  cumulated.sample_sum = histogram.Sum();
  return cumulated;
}

}  // namespace

class MetricsPage::Families {
 public:
  Families() {
    for (const MetricKind& kind : AllMetrics()) {
      families_.push_back({kind.name, kind.help, TypeOf(kind.type), {}});
    }
  }

  // The new metric of this name, to be filled in.
  ClientMetric& Add(const char* name, Labels labels) {
    const MetricKind* const kind = FindMetric(name);
    assert(kind != nullptr && "not in the catalogue");
    const auto at = static_cast<std::size_t>(kind - AllMetrics().data());
    ClientMetric& added = families_[at].metric.emplace_back();
    for (const auto& [label, value] : labels) {
      added.label.push_back({label, value});
    }
    return added;
  }

  // Those that have something to say.
  std::string Text() const {
    std::vector<MetricFamily> said;
    for (const MetricFamily& family : families_) {
      if (!family.metric.empty()) said.push_back(family);
    }
    return prometheus::TextSerializer().Serialize(said);
  }

 private:
  std::vector<MetricFamily> families_;  // in the catalogue's order
};

MetricsPage::MetricsPage() : families_(std::make_unique<Families>()) {}
MetricsPage::~MetricsPage() = default;

void MetricsPage::Set(const char* name, double value, Labels labels) {
  ClientMetric& added = families_->Add(name, labels);
  const bool is_gauge = FindMetric(name)->type == MetricType::kGauge;
  (is_gauge ? added.gauge.value : added.counter.value) = value;
}

void MetricsPage::Set(const char* name, const Histogram& histogram,
                      Labels labels) {
  families_->Add(name, labels).histogram = Cumulated(histogram);
}

std::string MetricsPage::Text() const { return families_->Text(); }

}  // namespace frostline::server
