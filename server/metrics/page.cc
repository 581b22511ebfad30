// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/page.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
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

namespace frostline::server {
namespace {

constexpr MetricType kCounter = MetricType::kCounter;
constexpr MetricType kGauge = MetricType::kGauge;
constexpr MetricType kHistogram = MetricType::kHistogram;

// Names end with the unit; those of counters with "_total".
constexpr std::array kMetrics = {
    // --- the process ---
    MetricKind{"frostline_build_info", kGauge, "version",
               "1, with the coordinator's version"},
    MetricKind{"process_start_time_seconds", kGauge, "",
               "When the coordinator started, in seconds since 1970"},
    MetricKind{"process_cpu_seconds_total", kCounter, "",
               "Processor time used"},
    MetricKind{"process_resident_memory_bytes", kGauge, "", "Memory in use"},
    MetricKind{"process_open_fds", kGauge, "", "Open descriptors"},
    MetricKind{"process_max_fds", kGauge, "",
               "How many descriptors may be open"},
    MetricKind{"process_threads", kGauge, "", "Threads"},
    MetricKind{"frostline_scrapes_total", kCounter, "",
               "Pages of metrics made"},
    // --- calls ---
    MetricKind{"frostline_calls_total", kCounter, "verb, code",
               "Unary calls answered"},
    MetricKind{"frostline_call_seconds", kHistogram, "verb, code",
               "From a call's arrival to its answer; an Acquire may wait for "
               "a trial"},
    MetricKind{"frostline_calls_in_progress", kGauge, "verb",
               "Unary calls not answered yet"},
    MetricKind{"frostline_streams_total", kCounter, "verb", "Streams begun"},
    MetricKind{"frostline_streams_open", kGauge, "verb", "Open streams"},
    MetricKind{"frostline_rate_refusals_total", kCounter, "",
               "Calls refused since their caller calls too often"},
    // --- the door ---
    MetricKind{"frostline_connections_open", kGauge, "door",
               "Open connections"},
    MetricKind{"frostline_connections_accepted_total", kCounter, "door",
               "Connections let in; with TLS each begins a handshake"},
    MetricKind{"frostline_connections_refused_total", kCounter, "door, reason",
               "Connections turned away at once, by reason"},
    MetricKind{"frostline_connections_cut_total", kCounter, "door, reason",
               "Connections ended by us: for a flood of cancelled calls, for "
               "frames that would take all memory, or to make room"},
    // --- the loop and the store ---
    MetricKind{"frostline_loop_responsive", kGauge, "",
               "1 when the loop answered this scrape within two seconds; what "
               "it alone knows is missing otherwise"},
    MetricKind{"frostline_loop_busy_seconds_total", kCounter, "",
               "Time in which the loop was at work"},
    MetricKind{"frostline_loop_backlog", kGauge, "urgency",
               "Works that wait for the loop"},
    MetricKind{"frostline_commit_seconds", kHistogram, "",
               "From the begin of a commit until it is on disk"},
    MetricKind{"frostline_commit_group_size", kHistogram, "",
               "Works that share one commit"},
    MetricKind{"frostline_groups_undone_total", kCounter, "",
               "Groups that the store did not take: it was full or busy"},
    MetricKind{"frostline_store_bytes", kGauge, "file",
               "Size of the database and of its write-ahead log"},
    MetricKind{"frostline_disk_free_bytes", kGauge, "",
               "Free room where the database lies"},
    MetricKind{"frostline_disk_room", kGauge, "",
               "2 ample, 1 no new studies, 0 no new leases"},
    MetricKind{"frostline_audit_entries_total", kCounter, "",
               "Entries of the audit"},
    // --- studies and trials ---
    MetricKind{"frostline_studies", kGauge, "state", "Studies"},
    MetricKind{"frostline_studies_unreadable", kGauge, "",
               "Studies that this version cannot load"},
    MetricKind{"frostline_trials", kGauge, "state", "Trials"},
    MetricKind{"frostline_study_trials", kGauge, "study, state",
               "Trials of a study; beyond fifty studies all are \"other\""},
    MetricKind{"frostline_trials_ended_total", kCounter, "state",
               "Trials that have ended"},
    MetricKind{"frostline_trials_requeued_total", kCounter, "reason",
               "Trials that run again: for their fault, the infrastructure's, "
               "or since a worker handed them back"},
    MetricKind{"frostline_queue_oldest_seconds", kGauge, "",
               "How long the trial waits that has waited longest"},
    MetricKind{"frostline_useful_parallelism", kGauge, "",
               "How many trials open studies could use at a time"},
    MetricKind{"frostline_study_useful_parallelism", kGauge, "study",
               "The same of one open study"},
    // --- leases ---
    MetricKind{"frostline_leases_running", kGauge, "", "Leases that run"},
    MetricKind{"frostline_leases_granted_total", kCounter, "",
               "Leases granted"},
    MetricKind{"frostline_leases_expired_total", kCounter, "",
               "Leases that ended without a heartbeat"},
    MetricKind{"frostline_leases_reinstated_total", kCounter, "",
               "Lost attempts that went on, as nobody had their trial yet"},
    MetricKind{"frostline_attempts_ended_total", kCounter, "end",
               "Attempts that ended, by how"},
    MetricKind{"frostline_late_results_total", kCounter, "verdict",
               "Results of attempts that were lost before: accepted, or kept "
               "as superseded"},
    // --- workers ---
    MetricKind{"frostline_workers", kGauge, "state", "Workers"},
    MetricKind{"frostline_workers_parked", kGauge, "",
               "Calls of workers that wait for a trial"},
    MetricKind{"frostline_slots", kGauge, "",
               "Slots of workers that are not gone"},
    MetricKind{"frostline_slots_busy", kGauge, "", "Slots with a trial"},
    MetricKind{"frostline_worker_gpus", kGauge, "",
               "GPUs of workers that are not gone"},
    MetricKind{"frostline_gpus", kGauge, "model",
               "Those of them that say how busy they are"},
    MetricKind{"frostline_gpus_leased", kGauge, "model",
               "Of these, as many as the share of their workers' slots that "
               "have a trial"},
    MetricKind{"frostline_gpus_busy", kGauge, "model",
               "Of these, the sum of the parts of the time in which each "
               "computed"},
    MetricKind{"frostline_gpu_memory_bytes", kGauge, "model", "Memory of GPUs"},
    MetricKind{"frostline_gpu_memory_used_bytes", kGauge, "model",
               "Memory of GPUs in use"},
    MetricKind{"frostline_gpu_power_watts", kGauge, "model",
               "Power that GPUs draw"},
    // --- what workers report of trials that ended ---
    MetricKind{"frostline_train_seconds_total", kCounter, "",
               "Seconds of training"},
    MetricKind{"frostline_trial_seconds_total", kCounter, "",
               "Seconds of trials, with loading and evaluation"},
    MetricKind{"frostline_flops_total", kCounter, "part",
               "Operations spent, skipped in frozen modules, and shared by "
               "stored activations"},
    MetricKind{"frostline_prefix_lookups_total", kCounter, "result",
               "Looks for stored activations of a frozen prefix"},
    MetricKind{"frostline_prefix_bytes_total", kCounter, "",
               "Bytes of such activations that trials stored"},
    MetricKind{"frostline_energy_joules_total", kCounter, "",
               "Energy that trainers could measure"},
    // --- search and importance ---
    MetricKind{"frostline_proposal_seconds", kHistogram, "sampler",
               "Time to propose one trial"},
    MetricKind{"frostline_proposals_failed_total", kCounter, "",
               "Proposals that a sampler could not make"},
    MetricKind{"frostline_importance_answers_total", kCounter, "source",
               "Reports, plans and comparisons: kept, computed, waited for "
               "with another caller, or refused as too many were"},
    MetricKind{"frostline_importance_seconds", kHistogram, "",
               "Time to compute one of them"},
    // --- notifications ---
    MetricKind{"frostline_notifications_total", kCounter, "outcome",
               "Ends of studies that somebody was told of, tries that failed, "
               "and those of which nobody will be told"},
    // --- certificates ---
    MetricKind{"frostline_certificate_expiry_timestamp_seconds", kGauge,
               "certificate",
               "When the certificate ends, in seconds since 1970"},
    // --- spans ---
    MetricKind{"frostline_spans_total", kCounter, "outcome",
               "Spans of trials that a collector took, or that were dropped; "
               "with --otlp"},
};

}  // namespace

std::span<const MetricKind> AllMetrics() { return kMetrics; }

const MetricKind* FindMetric(std::string_view name) {
  for (const MetricKind& kind : kMetrics) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

const char* NameOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
  }
  return "";
}

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

PageMaker::PageMaker(Measure measure, const Clock& clock)
    : measure_(std::move(measure)), clock_(clock), thread_([this] { Run(); }) {}

PageMaker::~PageMaker() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
  }
  wake_.SignalAll();
  thread_.join();
}

void PageMaker::Ask(Take take) {
  {
    const MutexLock lock(&mutex_);
    waiting_.push_back(std::move(take));
  }
  wake_.SignalAll();
}

void PageMaker::Run() {
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

PageText PageMaker::Make() {
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
