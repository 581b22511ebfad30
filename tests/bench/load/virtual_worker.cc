// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/virtual_worker.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "proto/wire_values.h"
#include "tests/bench/load/send.h"

namespace frostline::bench {
namespace {

constexpr Duration kFirstBackoff = std::chrono::milliseconds(50);
constexpr Duration kLongestBackoff = std::chrono::seconds(1);
constexpr Duration kNothingPause = std::chrono::milliseconds(200);
constexpr char kReportedMetric[] = "accuracy";

}  // namespace

double MadeUpMetric(const std::string& trial, std::int64_t attempt,
                    std::int64_t step) {
  const std::size_t name = std::hash<std::string>()(trial) & 0xffffffff;
  Rng rng(static_cast<std::uint64_t>(name),
          static_cast<std::uint64_t>(attempt * 1'000'003 + step + 1));
  return rng.Uniform();
}

VirtualWorker::VirtualWorker(Fleet& fleet, int index, Stub& stub)
    : fleet_(fleet),
      id_(absl::StrCat(fleet.options.worker_prefix, "-", index)),
      stub_(stub),
      rng_(fleet.options.seed, static_cast<std::uint64_t>(index)),
      backoff_(kFirstBackoff, kLongestBackoff),
      boot_(RandomHexId()) {}

void VirtualWorker::Register() {
  auto exchange =
      std::make_shared<Exchange<v1::RegisterRequest, v1::RegisterReply>>();
  exchange->method = &Stub::PrepareAsyncRegister;
  exchange->deadline = fleet_.options.patience;
  v1::RegisterRequest& request = exchange->request;
  request.set_request_id(NewRequestId(fleet_.clock));
  request.set_worker_id(id_);
  request.mutable_worker()->set_boot_id(boot_);
  request.mutable_worker()->set_slots(1);
  exchange->event = EventOf(Op::kRegister, request.request_id());
  exchange->repeated = Chance(fleet_.options.chaos.repeat);
  exchange->then = [this](const absl::Status& status, v1::RegisterReply&) {
    if (!status.ok()) return After(kNothingPause, &VirtualWorker::Register);
    if (!std::exchange(known_, true)) fleet_.on_registered();
    Acquire();
  };
  Send(std::move(exchange));
}

// What kill -9 and a new start of the agent look like from outside.
void VirtualWorker::BeReborn() {
  Drop();
  ++life_;
  silent_ = false;
  boot_ = RandomHexId();
  After(Duration(static_cast<std::int64_t>(
            rng_.Uniform() *
            static_cast<double>(fleet_.options.chaos.silent_for.count()))),
        &VirtualWorker::Register);
}

void VirtualWorker::Acquire() {
  auto exchange =
      std::make_shared<Exchange<v1::AcquireRequest, v1::AcquireReply>>();
  exchange->method = &Stub::PrepareAsyncAcquire;
  v1::AcquireRequest& request = exchange->request;
  request.set_request_id(NewRequestId(fleet_.clock));
  request.set_worker(WorkerNameOf(id_));
  request.set_boot_id(boot_);
  request.set_max_leases(1);
  request.set_study(fleet_.options.study);
  *request.mutable_wait() = proto::DurationToProto(fleet_.options.wait);
  exchange->deadline = fleet_.options.wait + fleet_.options.patience;
  exchange->event = EventOf(Op::kAcquire, request.request_id());
  exchange->repeated = Chance(fleet_.options.chaos.repeat);
  exchange->then = [this, asked = fleet_.clock.Steady()](
                       const absl::Status& status, v1::AcquireReply& reply) {
    // The coordinator knows another life of this worker, or none.
    if (!status.ok()) return After(kNothingPause, &VirtualWorker::Register);
    Take(reply, asked);
  };
  Send(std::move(exchange));
}

void VirtualWorker::Take(const v1::AcquireReply& reply, SteadyTime asked) {
  if (!reply.leases().empty()) return Hold(reply.leases(0));
  if (reply.none_reason() == v1::STUDY_ENDED) return fleet_.on_ended();
  if (reply.none_reason() == v1::QUARANTINED) return BeReborn();
  const bool waited = fleet_.clock.Steady() - asked > kNothingPause;
  waited ? Acquire() : After(kNothingPause, &VirtualWorker::Acquire);
}

void VirtualWorker::Hold(const v1::Lease& lease) {
  Held held;
  held.ref.set_trial(lease.trial());
  held.ref.set_attempt(lease.attempt());
  held.ref.set_secret(lease.secret());
  held.ttl = proto::DurationFromProto(lease.ttl());
  held.beat = proto::DurationFromProto(lease.heartbeat_interval());
  held.reports_left = fleet_.options.reports;
  held_ = std::move(held);
  ++fleet_.held;
  if (fleet_.options.on_grant) {
    fleet_.options.on_grant(lease.trial(), fleet_.clock.Steady());
  }
  BeatLater();
  Step();
}

void VirtualWorker::Step() {
  if (fleet_.options.think == Duration::zero()) return Go();
  After(Jitter(fleet_.options.think, 0.5, rng_), &VirtualWorker::Go);
}

void VirtualWorker::Go() {
  if (!held_.has_value()) return Acquire();
  const Chaos& chaos = fleet_.options.chaos;
  if (Chance(chaos.vanish)) return BeReborn();
  const bool last = held_->reports_left == 0;
  if (!silent_ && Chance(last ? chaos.late : chaos.silence)) {
    silent_ = true;
    return After(chaos.silent_for, &VirtualWorker::Go);
  }
  silent_ = false;
  switch (held_->told) {
    case v1::Directive::LEASE_LOST:
      Drop();
      return Acquire();
    case v1::Directive::STOP_PRUNED:
      return Finish(v1::Outcome::PRUNED);
    case v1::Directive::STOP_CANCELLED:
      return Finish(v1::Outcome::CANCELLED);
    case v1::Directive::CHECKPOINT_AND_RELEASE:
      return Release();
    default:
      break;
  }
  if (Chance(chaos.release)) return Release();
  if (!last) return Report();
  Finish(Chance(chaos.fail) ? v1::Outcome::FAILED : v1::Outcome::SUCCEEDED);
}

void VirtualWorker::Report() {
  auto exchange =
      std::make_shared<Exchange<v1::ReportRequest, v1::ReportReply>>();
  exchange->method = &Stub::PrepareAsyncReport;
  exchange->deadline = fleet_.options.patience;
  v1::ReportRequest& request = exchange->request;
  *request.mutable_lease() = held_->ref;
  request.set_sequence(++held_->sequence);
  exchange->event = EventOf(
      Op::kReport, absl::StrCat("report-", held_->ref.trial(), "-",
                                held_->ref.attempt(), "-", held_->sequence));
  for (int i = 0; i < fleet_.options.measurements; ++i) {
    const std::int64_t step = held_->step++;
    const double value =
        MadeUpMetric(held_->ref.trial(), held_->ref.attempt(), step);
    v1::Measurement* const measured = request.add_measurements();
    measured->set_step(step);
    (*measured->mutable_metrics())[kReportedMetric] = value;
    if (fleet_.options.keep_history) {
      exchange->event.steps.emplace_back(step, value);
    }
  }
  exchange->repeated = Chance(fleet_.options.chaos.repeat);
  exchange->then = [this](const absl::Status& status, v1::ReportReply& reply) {
    if (!status.ok()) {
      Drop();
      return Acquire();
    }
    fleet_.figures.Measured(fleet_.options.measurements);
    --held_->reports_left;
    Heed(reply.directive());
    Step();
  };
  Send(std::move(exchange));
}

void VirtualWorker::Finish(v1::Outcome::Kind kind) {
  auto exchange =
      std::make_shared<Exchange<v1::FinishRequest, v1::FinishReply>>();
  exchange->method = &Stub::PrepareAsyncFinish;
  exchange->deadline = fleet_.options.patience;
  v1::FinishRequest& request = exchange->request;
  *request.mutable_lease() = held_->ref;
  request.mutable_outcome()->set_kind(kind);
  exchange->event = EventOf(
      Op::kFinish,
      absl::StrCat("finish-", held_->ref.trial(), "-", held_->ref.attempt()));
  exchange->event.said = v1::Outcome::Kind_Name(kind);
  if (kind == v1::Outcome::SUCCEEDED) {
    const double value =
        MadeUpMetric(held_->ref.trial(), held_->ref.attempt(), -1);
    (*request.mutable_outcome()->mutable_metrics())[kReportedMetric] = value;
    exchange->event.value = value;
  } else if (kind == v1::Outcome::FAILED) {
    request.mutable_outcome()->set_failure(v1::FAILURE_CLASS_INFRASTRUCTURE);
    request.mutable_outcome()->set_cause("a made-up fault");
  }
  exchange->repeated = Chance(fleet_.options.chaos.repeat);
  exchange->then = [this](const absl::Status& status, v1::FinishReply& reply) {
    Drop();
    if (status.ok() && reply.verdict() == v1::FinishReply::ACCEPTED) {
      fleet_.figures.Cycle();
      ++fleet_.cycles;
      fleet_.on_cycle();
    }
    Acquire();
  };
  Send(std::move(exchange));
}

void VirtualWorker::Release() {
  auto exchange =
      std::make_shared<Exchange<v1::ReleaseRequest, v1::ReleaseReply>>();
  exchange->method = &Stub::PrepareAsyncRelease;
  exchange->deadline = fleet_.options.patience;
  *exchange->request.mutable_lease() = held_->ref;
  exchange->request.set_reason(v1::ReleaseRequest::DRAINED);
  exchange->event = EventOf(
      Op::kRelease,
      absl::StrCat("release-", held_->ref.trial(), "-", held_->ref.attempt()));
  exchange->then = [this](const absl::Status&, v1::ReleaseReply&) {
    Drop();
    Acquire();
  };
  Send(std::move(exchange));
}

void VirtualWorker::Drop() {
  if (!held_.has_value()) return;
  held_.reset();
  --fleet_.held;
}

void VirtualWorker::BeatLater() {
  const std::string trial = held_->ref.trial();
  fleet_.loop.After(Jitter(held_->beat, 0.2, rng_),
                    [this, trial, attempt = held_->ref.attempt()] {
                      const bool same = held_.has_value() &&
                                        held_->ref.trial() == trial &&
                                        held_->ref.attempt() == attempt;
                      if (!same) return;
                      if (!silent_) Beat();
                      BeatLater();
                    });
}

void VirtualWorker::Beat() {
  auto exchange =
      std::make_shared<Exchange<v1::HeartbeatRequest, v1::HeartbeatReply>>();
  exchange->method = &Stub::PrepareAsyncHeartbeat;
  v1::HeartbeatRequest& request = exchange->request;
  request.set_worker(WorkerNameOf(id_));
  request.set_boot_id(boot_);
  request.set_sequence(++beats_);
  v1::LeaseProgress* const progress = request.add_leases();
  *progress->mutable_lease() = held_->ref;
  progress->set_step(held_->step);
  exchange->event = EventOf(
      Op::kHeartbeat, absl::StrCat("beat-", id_, "-", boot_, "-", beats_));
  exchange->deadline = held_->beat * 2;
  exchange->retried = false;
  exchange->then = [this](const absl::Status& status,
                          v1::HeartbeatReply& reply) {
    if (!status.ok() || reply.directives().empty()) return;
    Heed(reply.directives(0));
  };
  Send(std::move(exchange));
}

void VirtualWorker::Heed(const v1::Directive& directive) {
  const bool ours = held_.has_value() &&
                    directive.trial() == held_->ref.trial() &&
                    directive.attempt() == held_->ref.attempt();
  if (ours && directive.action() != v1::Directive::CONTINUE) {
    held_->told = directive.action();
  }
}

void VirtualWorker::After(Duration delay, void (VirtualWorker::*what)()) {
  fleet_.loop.After(delay, [this, what, life = life_] {
    if (life == life_) (this->*what)();
  });
}

HistoryEvent VirtualWorker::EventOf(Op op, const std::string& id) const {
  HistoryEvent event;
  event.op = op;
  if (!fleet_.options.keep_history) return event;
  event.worker = id_;
  event.id = id;
  if (held_.has_value() && op != Op::kAcquire && op != Op::kRegister) {
    event.trial = held_->ref.trial();
    event.attempt = held_->ref.attempt();
  }
  return event;
}

void VirtualWorker::Note(HistoryEvent event, Kind kind) {
  if (!fleet_.options.keep_history) return;
  event.time = fleet_.clock.Steady();
  event.kind = kind;
  fleet_.history.push_back(std::move(event));
}

}  // namespace frostline::bench
