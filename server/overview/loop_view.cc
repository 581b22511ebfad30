// SPDX-License-Identifier: Apache-2.0
#include "server/overview/loop_view.h"

#include <algorithm>
#include <utility>

#include "sampler/useful_parallelism.h"
#include "server/search/sampler_choice.h"

namespace frostline::server {
namespace {

constexpr char kOther[] = "other";

using storage::StudyState;
using storage::WorkerState;
using Labels = std::map<storage::StudyKey, std::string>;

constexpr std::array kStudyStates = {
    std::pair{StudyState::kActive, "ACTIVE"},
    std::pair{StudyState::kPaused, "PAUSED"},
    std::pair{StudyState::kStopped, "STOPPED"},
    std::pair{StudyState::kCompleted, "COMPLETED"}};
constexpr std::array kTrialStates = {
    TrialState::kQueued,   TrialState::kRunning,    TrialState::kSucceeded,
    TrialState::kPruned,   TrialState::kInfeasible, TrialState::kFailed,
    TrialState::kCancelled};
constexpr std::array kWorkerStates = {
    std::pair{WorkerState::kActive, "ACTIVE"},
    std::pair{WorkerState::kDraining, "DRAINING"},
    std::pair{WorkerState::kQuarantined, "QUARANTINED"},
    std::pair{WorkerState::kGone, "GONE"}};

// Studies that have a label of their own. No id is "other" itself.
Labels ChooseLabels(const std::map<storage::StudyKey, StudyBook>& studies) {
  Labels labels;
  for (const bool open : {true, false}) {
    for (auto at = studies.rbegin(); at != studies.rend(); ++at) {
      if (labels.size() >= kNamedStudies) return labels;
      const std::string& id = at->second.row().id;
      if (IsOpen(at->second.row().state) == open && id != kOther) {
        labels.emplace(at->first, id);
      }
    }
  }
  return labels;
}

void Look(const StudyBook& book, const std::string& label, LoopView& view) {
  ++view.studies[static_cast<std::size_t>(book.row().state)];
  LoopView::ByState& of_study = view.study_trials[label];
  for (const TrialState state : kTrialStates) {
    const auto at = static_cast<std::size_t>(state);
    view.trials[at] += book.Count(state);
    of_study[at] += book.Count(state);
  }
  if (!IsOpen(book.row().state)) return;
  view.open.push_back({label, book.shared_checked(), book.Counts()});
}

void Look(const WorkerEntry& worker, WallMicros now, Duration lease_ttl,
          LoopView& view) {
  const WorkerState state =
      IsGone(worker, now, lease_ttl) ? WorkerState::kGone : worker.row.state;
  ++view.workers[static_cast<std::size_t>(state)];
  view.slots_busy += static_cast<std::int64_t>(worker.holds.size());
  if (state == WorkerState::kGone) return;
  view.slots += worker.info.slots();
  view.gpus += worker.info.hardware().gpus_size();
  if (worker.load == nullptr) return;
  for (const auto& [model, use] : worker.load->gpus) {
    const bool is_known =
        view.gpu_uses.size() < kKnownModels || view.gpu_uses.contains(model);
    view.gpu_uses[is_known ? model : kOtherModel] +=
        Leased(use, worker.holds.size(), worker.info.slots());
  }
}

// All but the models with the most GPUs become one.
GpuUses NamedUses(const GpuUses& uses) {
  std::vector<std::pair<std::string, GpuUse>> sorted(uses.begin(), uses.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& one, const auto& other) {
                     return one.second.gpus > other.second.gpus;
                   });
  GpuUses named;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [model, use] = sorted[i];
    named[i < kNamedModels ? model : kOtherModel] += use;
  }
  return named;
}

void WriteGpus(const LoopView& view, MetricsPage& page) {
  GpuUses uses = NamedUses(view.gpu_uses);
  // So that sums and alerts find a zero where there is no GPU.
  if (uses.empty()) uses.emplace(kOtherModel, GpuUse());
  for (const auto& [model, use] : uses) {
    const auto set = [&page, &model](const char* name, double value) {
      // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a use has values
      page.Set(name, value, {{"model", model}});
    };
    set("frostline_gpus", use.gpus);
    set("frostline_gpus_leased", use.leased);
    set("frostline_gpus_busy", use.busy);
    set("frostline_gpu_memory_bytes", use.memory_bytes);
    set("frostline_gpu_memory_used_bytes", use.memory_used_bytes);
    set("frostline_gpu_power_watts", use.watts);
  }
}

// A sampler that needs no results could use as many as there are left.
std::int64_t UsefulOf(const LoopView::OpenStudy& study) {
  return std::min<std::int64_t>(
      UsefulParallelismOf(*study.checked, study.counts),
      study.checked->settings.budget().trials());
}

void WriteUseful(const LoopView& view, MetricsPage& page) {
  std::int64_t all = 0;
  std::map<std::string, std::int64_t> of_study;
  for (const LoopView::OpenStudy& study : view.open) {
    const std::int64_t useful = UsefulOf(study);
    all += useful;
    of_study[study.label] += useful;
  }
  page.Set("frostline_useful_parallelism", all);
  for (const auto& [study, useful] : of_study) {
    page.Set("frostline_study_useful_parallelism", useful, {{"study", study}});
  }
}

void WriteTrials(const LoopView& view, MetricsPage& page) {
  for (const TrialState state : kTrialStates) {
    const auto at = static_cast<std::size_t>(state);
    page.Set("frostline_trials", view.trials[at], {{"state", NameOf(state)}});
    for (const auto& [study, trials] : view.study_trials) {
      page.Set("frostline_study_trials", trials[at],
               {{"study", study}, {"state", NameOf(state)}});
    }
  }
}

}  // namespace

LoopView LookAround(const Ledger& ledger, const Dispatcher& dispatcher,
                    const AuditLog& audit, const storage::DiskRoom& disk,
                    const Clock& clock) {
  LoopView view;
  const WallMicros now = clock.Wall();
  WallMicros oldest = now;
  const Labels labels = ChooseLabels(ledger.studies());
  for (const auto& [key, book] : ledger.studies()) {
    const auto label = labels.find(key);
    Look(book, label == labels.end() ? kOther : label->second, view);
    oldest = std::min(oldest, book.QueuedSince().value_or(now));
  }
  view.oldest_queued_s = static_cast<double>(now - oldest) / 1e6;
  view.unreadable = static_cast<std::int64_t>(ledger.unreadable());
  for (const auto& [id, worker] : ledger.workers().all()) {
    Look(worker, now, ledger.default_lease().ttl, view);
  }
  view.leases = static_cast<std::int64_t>(ledger.running().leases().size());
  view.parked = static_cast<std::int64_t>(dispatcher.waiting());
  view.audit_entries = audit.stored();
  view.disk = disk;
  return view;
}

void Write(const LoopView& view, MetricsPage& page) {
  for (const auto& [state, name] : kStudyStates) {
    page.Set("frostline_studies", view.studies[static_cast<std::size_t>(state)],
             {{"state", name}});
  }
  page.Set("frostline_studies_unreadable", view.unreadable);
  WriteTrials(view, page);
  WriteUseful(view, page);
  page.Set("frostline_queue_oldest_seconds", view.oldest_queued_s);
  page.Set("frostline_leases_running", view.leases);
  page.Set("frostline_workers_parked", view.parked);
  for (const auto& [state, name] : kWorkerStates) {
    page.Set("frostline_workers", view.workers[static_cast<std::size_t>(state)],
             {{"state", name}});
  }
  page.Set("frostline_slots", view.slots);
  page.Set("frostline_slots_busy", view.slots_busy);
  page.Set("frostline_worker_gpus", view.gpus);
  WriteGpus(view, page);
  page.Set("frostline_audit_entries_total", view.audit_entries);
  page.Set("frostline_disk_free_bytes", view.disk.free_bytes);
  page.Set("frostline_disk_room",
           static_cast<std::int64_t>(storage::Room::kNoNewLeases) -
               static_cast<std::int64_t>(view.disk.room));
}

}  // namespace frostline::server
