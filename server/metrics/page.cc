// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/page.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cassert>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
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
  // The sum of these counts, since more may have been counted meanwhile.
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

  // Adds a metric of this name and returns it, to be filled in.
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

  // Writes the metrics that have a value.
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

namespace {

// The first field read of /proc/self/stat: the state, field 3 of proc(5).
constexpr std::size_t kFirst = 3;
constexpr std::size_t kUserTime = 14 - kFirst;
constexpr std::size_t kSystemTime = 15 - kFirst;
constexpr std::size_t kThreads = 20 - kFirst;
constexpr std::size_t kStarted = 22 - kFirst;   // in ticks since boot
constexpr std::size_t kResident = 24 - kFirst;  // in pages

std::string FactTextOf(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<double> StatFields() {
  const std::string text = FactTextOf("/proc/self/stat");
  const std::size_t name_ends = text.rfind(')');  // it may contain blanks
  if (name_ends == std::string::npos) return {};
  std::istringstream rest(text.substr(name_ends + 1));
  std::string state;
  rest >> state;
  std::vector<double> fields = {0};
  double field = 0;
  while (rest >> field) fields.push_back(field);
  return fields;
}

std::optional<double> BootTime() {
  std::istringstream lines(FactTextOf("/proc/stat"));
  std::string line;
  while (std::getline(lines, line)) {
    double seconds = 0;
    std::string key;
    if (std::istringstream(line) >> key >> seconds && key == "btime") {
      return seconds;
    }
  }
  return std::nullopt;
}

}  // namespace

void WriteProcess(MetricsPage& page) {
  const std::vector<double> fields = StatFields();
  if (fields.size() > kResident) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    page.Set("process_cpu_seconds_total",
             (fields[kUserTime] + fields[kSystemTime]) / ticks);
    page.Set("process_resident_memory_bytes",
             fields[kResident] * static_cast<double>(sysconf(_SC_PAGESIZE)));
    page.Set("process_threads", fields[kThreads]);
    if (const auto boot = BootTime()) {
      page.Set("process_start_time_seconds", *boot + fields[kStarted] / ticks);
    }
  }
  std::error_code failure;
  const std::filesystem::directory_iterator open("/proc/self/fd", failure);
  if (!failure) {
    page.Set("process_open_fds",
             static_cast<std::int64_t>(
                 std::distance(open, std::filesystem::directory_iterator())));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    page.Set("process_max_fds", static_cast<double>(limit.rlim_cur));
  }
}

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
