// SPDX-License-Identifier: Apache-2.0
#include "server/overview/overview.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "sampler/factory.h"
#include "server/metrics/page.h"
#include "server/search/sampler_choice.h"
#include "storage/factory.h"
#include "tls/certificate.h"
#include "tls/private_file.h"

namespace frostline::server {
namespace {

void WriteExpiry(const char* which, const std::string& path,
                 MetricsPage& page) {
  if (path.empty()) return;
  const auto pem = tls::ReadPublicFile(path, "");
  if (!pem.ok()) return;
  const auto facts = tls::ReadCertificate(*pem);
  if (!facts.ok()) return;
  page.Set("frostline_certificate_expiry_timestamp_seconds",
           static_cast<double>(facts->expires) / 1e6, {{"certificate", which}});
}

}  // namespace

void WriteHost(const HostFiles& files, const char* version, MetricsPage& page) {
  page.Set("frostline_build_info", 1.0, {{"version", version}});
  WriteProcess(page);
  WriteExpiry("coordinator", files.certificate, page);
  WriteExpiry("authority", files.authority, page);
  if (files.data_folder.empty()) return;
  const storage::StoreBytes bytes = storage::BytesIn(files.data_folder);
  page.Set("frostline_store_bytes", bytes.database, {{"file", "database"}});
  page.Set("frostline_store_bytes", bytes.log, {{"file", "wal"}});
}

void WriteSpans(const spans::SpanCounts& counts, MetricsPage& page) {
  page.Set("frostline_spans_total", counts.sent, {{"outcome", "sent"}});
  page.Set("frostline_spans_total", counts.dropped, {{"outcome", "dropped"}});
}

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

// Returns the studies that have a label of their own. No id is "other" itself.
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

// Adds up all models but those with the most GPUs.
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
  // Gives sums and alerts a zero to find when there is no GPU.
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

// Returns how many trials of the study may usefully run at a time. A sampler
// that needs no results could use as many as there are left.
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

namespace {

constexpr std::array kEndStates = {TrialState::kSucceeded, TrialState::kPruned,
                                   TrialState::kInfeasible, TrialState::kFailed,
                                   TrialState::kCancelled};
constexpr std::array kAttemptEnds = {
    std::pair{AttemptState::kCompleted, "completed"},
    std::pair{AttemptState::kFailed, "failed"},
    std::pair{AttemptState::kLost, "lost"},
    std::pair{AttemptState::kPreempted, "preempted"},
    std::pair{AttemptState::kReleased, "released"},
    std::pair{AttemptState::kCancelled, "cancelled"}};

double Millionths(const Counter& counter) {
  return static_cast<double>(counter.value()) / 1e6;
}

void WriteLoop(const CommitLoop& loop, MetricsPage& page) {
  const LoopCounts& counts = loop.counts();
  page.Set("frostline_loop_busy_seconds_total", Millionths(counts.busy_us));
  page.Set("frostline_commit_seconds", counts.commit_seconds);
  page.Set("frostline_commit_group_size", counts.group_size);
  page.Set("frostline_groups_undone_total", counts.undone);
  for (const auto& [urgency, name] : {std::pair{Urgency::kLease, "lease"},
                                      std::pair{Urgency::kChange, "change"},
                                      std::pair{Urgency::kRead, "read"}}) {
    page.Set("frostline_loop_backlog",
             static_cast<std::int64_t>(loop.BacklogOf(urgency)),
             {{"urgency", name}});
  }
}

void WriteLeases(const LedgerCounts& counts, MetricsPage& page) {
  for (const TrialState state : kEndStates) {
    page.Set("frostline_trials_ended_total",
             counts.trials_ended[static_cast<std::size_t>(state)],
             {{"state", NameOf(state)}});
  }
  for (const auto& [state, name] : kAttemptEnds) {
    page.Set("frostline_attempts_ended_total",
             counts.attempts_ended[static_cast<std::size_t>(state)],
             {{"end", name}});
  }
  page.Set("frostline_leases_granted_total", counts.granted);
  page.Set("frostline_leases_expired_total", counts.expired);
  page.Set("frostline_leases_reinstated_total", counts.reinstated);
  constexpr char kLate[] = "frostline_late_results_total";
  page.Set(kLate, counts.late_accepted, {{"verdict", "accepted"}});
  page.Set(kLate, counts.late_superseded, {{"verdict", "superseded"}});
  constexpr char kRequeued[] = "frostline_trials_requeued_total";
  page.Set(kRequeued, counts.requeued_trial, {{"reason", "trial"}});
  page.Set(kRequeued, counts.requeued_infrastructure,
           {{"reason", "infrastructure"}});
  page.Set(kRequeued, counts.requeued_handed_back, {{"reason", "handed_back"}});
}

void WriteUsage(const LedgerCounts& counts, MetricsPage& page) {
  page.Set("frostline_train_seconds_total", Millionths(counts.train_us));
  page.Set("frostline_trial_seconds_total", Millionths(counts.total_us));
  const auto flops = [&page](const char* part, const Counter& mega) {
    page.Set("frostline_flops_total", static_cast<double>(mega.value()) * 1e6,
             {{"part", part}});
  };
  flops("spent", counts.mega_flops_spent);
  flops("skipped", counts.mega_flops_skipped);
  flops("shared", counts.mega_flops_shared);
  constexpr char kPrefix[] = "frostline_prefix_lookups_total";
  page.Set(kPrefix, counts.prefix_hits, {{"result", "hit"}});
  page.Set(kPrefix, counts.prefix_misses, {{"result", "miss"}});
  page.Set("frostline_prefix_bytes_total", counts.prefix_bytes);
  page.Set("frostline_energy_joules_total",
           static_cast<double>(counts.energy_millijoules.value()) / 1e3);
}

void WriteSearch(const SearchCounts& search, const ImportanceDesk& importance,
                 MetricsPage& page) {
  for (const auto& [sampler, seconds] : search.seconds()) {
    page.Set("frostline_proposal_seconds", seconds, {{"sampler", sampler}});
  }
  page.Set("frostline_proposals_failed_total", search.failed);
  constexpr char kAnswers[] = "frostline_importance_answers_total";
  const AnswerCounts& answers = importance.counts();
  page.Set(kAnswers, answers.kept, {{"source", "kept"}});
  page.Set(kAnswers, answers.joined, {{"source", "joined"}});
  page.Set(kAnswers, answers.computed, {{"source", "computed"}});
  page.Set(kAnswers, answers.refused, {{"source", "refused"}});
  page.Set("frostline_importance_seconds", importance.seconds());
}

void WriteNotifications(const NotifyCounts& counts, MetricsPage& page) {
  constexpr char kTold[] = "frostline_notifications_total";
  page.Set(kTold, counts.delivered, {{"outcome", "delivered"}});
  page.Set(kTold, counts.retried, {{"outcome", "retried"}});
  page.Set(kTold, counts.given_up, {{"outcome", "given_up"}});
  page.Set(kTold, counts.dropped, {{"outcome", "dropped"}});
}

// The answer of the loop. It outlives whoever waits for it.
struct AskedLoop {
  Mutex mutex;
  CondVar answered;
  std::optional<LoopView> view ABSL_GUARDED_BY(mutex);
};

}  // namespace

void Overview::Measure(MetricsPage& page) const {
  WriteLoop(rooms_.loop, page);
  WriteLeases(rooms_.ledger.counts(), page);
  WriteUsage(rooms_.ledger.counts(), page);
  WriteSearch(rooms_.proposer.counts(), rooms_.importance, page);
  WriteNotifications(rooms_.notifier.counts(), page);
  const auto asked = std::make_shared<AskedLoop>();
  // What is posted there borrows the rooms, which outlive the loop.
  const bool posted = rooms_.loop.Post(
      [asked, rooms = &rooms_](Batch& batch) {
        batch.AssertOnLoop();
        LoopView view =
            LookAround(rooms->ledger, rooms->dispatcher, rooms->audit,
                       rooms->upkeep.disk(), rooms->clock);
        {
          const MutexLock lock(&asked->mutex);
          asked->view = std::move(view);
        }
        asked->answered.SignalAll();
      },
      Urgency::kRead);
  std::optional<LoopView> view;
  if (posted) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    const MutexLock lock(&asked->mutex);
    while (!asked->view.has_value()) {
      if (!asked->answered.WaitUntil(&asked->mutex, until)) break;
    }
    view = std::move(asked->view);
  }
  page.Set("frostline_loop_responsive", view.has_value() ? 1.0 : 0.0);
  if (view.has_value()) Write(*view, page);
}

}  // namespace frostline::server
