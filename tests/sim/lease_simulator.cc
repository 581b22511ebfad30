// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/lease_simulator.h"

#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "tests/sim/model_coordinator.h"

namespace frostline::test {
namespace {

constexpr int kWorkers = 3;
constexpr Duration kChaos = std::chrono::minutes(20);
constexpr Duration kPatience = std::chrono::hours(6);
constexpr int kStepsOfATrial = 8;

// One agent: what it holds, what it has not been answered yet.
struct ModelWorker {
  int id = 0;
  int boot = 0;
  SteadyTime asleep_until{};
  SteadyTime cut_off_until{};  // it trains on, but nothing gets through
  std::optional<Call> lease;   // as granted
  int next_step = 0;
  std::vector<Call> outbox;  // in order; the first is sent until answered
  int requests = 0;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, Mutant mutant)
      : rng_(seed, 0), coordinator_(mutant, result_) {}

  SimulationResult Run() {
    for (int i = 0; i < kWorkers; ++i) {
      workers_.emplace_back();
      workers_.back().id = i;
      At(Seconds(0, 5), [this, i] { Step(i); });
    }
    At(std::chrono::seconds(1), [this] { Tick(); });
    At(Seconds(5, 50), [this] { Trouble(); });
    while (!events_.empty() && result_.broken.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      event.run();
      ++result_.events;
      coordinator_.Check(told_, now_);
      if (coordinator_.AllEnded()) break;
      if (now_ > kPatience) result_.broken = "the study never ended";
    }
    if (result_.broken.empty()) coordinator_.CheckEnd();
    return result_;
  }

 private:
  struct Event {
    SteadyTime at;
    std::uint64_t order;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return std::pair(other.at, other.order) < std::pair(at, order);
    }
  };

  void At(Duration from_now, std::function<void()> run) {
    events_.push({now_ + from_now, ++order_, std::move(run)});
  }
  Duration Seconds(double lo, double hi) {
    return std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(lo + (hi - lo) * rng_.Uniform()));
  }
  bool Chance(double p) { return now_ < kChaos && rng_.Uniform() < p; }

  // --- the network: drops, delays, doubles, and so reorders ---
  void Send(const Call& call) {
    const int copies = Chance(0.1) ? 0 : (Chance(0.1) ? 2 : 1);
    for (int i = 0; i < copies; ++i) {
      At(Chance(0.05) ? Seconds(1, 200) : Seconds(0.01, 0.5),
         [this, call] { Arrive(call); });
    }
    if (call.kind != Call::kAcquire && Chance(0.02)) {  // somebody guesses
      Call forged = call;
      forged.proof.secret = SecretString("guessed");
      forged.forged = true;
      At(Seconds(0.01, 5), [this, forged] { Arrive(forged); });
    }
  }

  bool CutOff(const Call& call) const {
    return now_ < workers_[static_cast<std::size_t>(call.worker)].cut_off_until;
  }

  void Arrive(const Call& call) {
    if (!coordinator_.alive() || CutOff(call)) return;
    for (Call& answer : coordinator_.Handle(call, now_, wall_offset_)) {
      Reply(std::move(answer));
    }
    if (!commit_due_) {
      commit_due_ = true;
      At(Seconds(0.001, 0.02), [this] { Commit(); });
    }
  }

  void Commit() {
    commit_due_ = false;
    if (!coordinator_.alive()) return;
    for (Call& answer : coordinator_.Commit()) Reply(std::move(answer));
  }

  void Reply(Call answer) {
    if (Chance(0.1)) return;
    At(Chance(0.05) ? Seconds(1, 200) : Seconds(0.01, 0.5),
       [this, answer = std::move(answer)] { Hear(answer); });
  }

  // --- a worker ---
  void Hear(const Call& answer) {
    if (CutOff(answer)) return;
    told_.Note(answer, result_, coordinator_);
    ModelWorker& worker = workers_[static_cast<std::size_t>(answer.worker)];
    if (answer.boot != worker.boot || now_ < worker.asleep_until) return;
    if (worker.outbox.empty() || worker.outbox.front().id != answer.id) {
      const bool mine = worker.lease.has_value() &&
                        worker.lease->proof.attempt == answer.proof.attempt &&
                        worker.lease->trial == answer.trial;
      if (mine && answer.answer == Answer::kLeaseLost) GiveUp(worker);
      return;
    }
    worker.outbox.erase(worker.outbox.begin());
    if (answer.kind == Call::kAcquire && answer.answer == Answer::kOk) {
      worker.lease = answer;
      worker.next_step = 0;
    } else if (answer.kind == Call::kFinish || answer.kind == Call::kRelease) {
      worker = Idle(worker);
    } else if (answer.answer == Answer::kLeaseLost) {
      GiveUp(worker);
    }
  }

  // The lease is lost. A training that is done is delivered all the same.
  static void GiveUp(ModelWorker& worker) {
    std::erase_if(worker.outbox,
                  [](const Call& call) { return call.kind != Call::kFinish; });
    if (worker.outbox.empty()) worker = Idle(worker);
  }

  static ModelWorker Idle(ModelWorker worker) {
    worker.lease.reset();
    worker.outbox.clear();
    return worker;
  }

  Call NewCall(ModelWorker& worker, Call::Kind kind) {
    Call call;
    if (worker.lease.has_value()) call = *worker.lease;
    call.kind = kind;
    call.worker = worker.id;
    call.boot = worker.boot;
    call.id = absl::StrCat(worker.id, "/", worker.boot, "/", ++worker.requests);
    return call;
  }

  void Step(int id) {
    ModelWorker& worker = workers_[static_cast<std::size_t>(id)];
    At(Seconds(3, 12), [this, id] { Step(id); });
    if (now_ < worker.asleep_until) return;
    if (worker.lease.has_value()) {
      Send(NewCall(worker, Call::kHeartbeat));
      if (Chance(0.03)) {
        worker.outbox = {NewCall(worker, Call::kRelease)};
      } else if (worker.next_step < kStepsOfATrial) {
        Call report = NewCall(worker, Call::kReport);
        report.step = worker.next_step++;
        worker.outbox.push_back(report);
      } else if (worker.next_step == kStepsOfATrial) {
        ++worker.next_step;
        Call finish = NewCall(worker, Call::kFinish);
        finish.value = rng_.Uniform();
        worker.outbox.push_back(finish);
      }
    } else if (worker.outbox.empty()) {
      worker.outbox.push_back(NewCall(worker, Call::kAcquire));
    }
    if (!worker.outbox.empty()) Send(worker.outbox.front());
  }

  // --- trouble ---
  void Trouble() {
    if (now_ >= kChaos) return;
    At(Seconds(5, 50), [this] { Trouble(); });
    ModelWorker& worker = workers_[rng_.Below(kWorkers)];
    switch (rng_.Below(5)) {
      case 0:  // the worker dies and comes back as another life
        worker = Idle(worker);
        ++worker.boot;
        worker.asleep_until = now_ + Seconds(1, 60);
        break;
      case 1:  // it is suspended, and wakes up believing in its lease
        worker.asleep_until = now_ + Seconds(40, 500);
        break;
      case 2:  // its cable is pulled
        worker.cut_off_until = now_ + Seconds(40, 300);
        break;
      case 3:  // the coordinator loses its power
        coordinator_.Crash();
        ++result_.restarts;
        At(Seconds(0.5, 90), [this] { coordinator_.Restart(now_); });
        break;
      default:  // somebody sets the date
        wall_offset_ += static_cast<WallMicros>(rng_.Below(7200) * 1'000'000) -
                        3'600'000'000;
    }
  }

  void Tick() {
    At(std::chrono::seconds(1), [this] { Tick(); });
    if (!coordinator_.alive()) return;
    coordinator_.Expire(now_, wall_offset_);
    Commit();
  }

  Rng rng_;
  SimulationResult result_;
  ModelCoordinator coordinator_;
  Told told_;
  std::vector<ModelWorker> workers_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  SteadyTime now_{};
  WallMicros wall_offset_ = 0;
  bool commit_due_ = false;
};

}  // namespace

SimulationResult SimulateLeases(std::uint64_t seed, Mutant mutant) {
  return Simulation(seed, mutant).Run();
}

}  // namespace frostline::test
