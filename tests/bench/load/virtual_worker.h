// SPDX-License-Identifier: Apache-2.0
//
// File: virtual_worker.h
//
// One worker without a trainer: registers, waits for a trial, heartbeats,
// reports made-up measurements, finishes, and again. It retries what was not
// answered under the same id, stops when it is told to, and misbehaves as its
// fleet's Chaos says.
//
// Thread: the fleet's loop.
#ifndef FROSTLINE_TESTS_BENCH_LOAD_VIRTUAL_WORKER_H_
#define FROSTLINE_TESTS_BENCH_LOAD_VIRTUAL_WORKER_H_

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/rng.h"
#include "frostline/v1/worker_service.grpc.pb.h"
#include "tests/bench/load/fleet.h"

namespace frostline::bench {

// What an attempt reports at a step, or as its result (step -1): any number
// will do, as long as no two attempts share it.
double MadeUpMetric(const std::string& trial, std::int64_t attempt,
                    std::int64_t step);

class VirtualWorker {
 public:
  VirtualWorker(Fleet& fleet, int index, v1::WorkerService::Stub& stub);

  void Start() { Register(); }

 private:
  using Stub = v1::WorkerService::Stub;
  using Op = HistoryEvent::Op;
  using Kind = HistoryEvent::Kind;

  struct Held {
    v1::LeaseRef ref;
    Duration ttl{0};
    Duration beat{0};
    int reports_left = 0;
    std::int64_t step = 0;
    std::int64_t sequence = 0;
    v1::Directive::Action told = v1::Directive::CONTINUE;
  };
  // A request, until it is answered for good. See send.h.
  template <typename Request, typename Reply>
  struct Exchange;

  template <typename Request, typename Reply>
  void Send(std::shared_ptr<Exchange<Request, Reply>> exchange);

  void Register();
  void BeReborn();
  void Acquire();
  void Take(const v1::AcquireReply& reply, SteadyTime asked);
  void Hold(const v1::Lease& lease);
  void Step();
  void Go();
  void Report();
  void Finish(v1::Outcome::Kind kind);
  void Release();
  void Drop();
  void BeatLater();
  void Beat();
  void Heed(const v1::Directive& directive);

  bool Chance(double chance) { return chance > 0 && rng_.Uniform() < chance; }
  void After(Duration delay, void (VirtualWorker::*what)());
  HistoryEvent EventOf(Op op, const std::string& id) const;
  void Note(HistoryEvent event, Kind kind);

  Fleet& fleet_;
  const std::string id_;
  Stub& stub_;
  Rng rng_;
  Backoff backoff_;
  std::string boot_;
  bool known_ = false;  // has registered once
  bool silent_ = false;
  // Raised by each rebirth: what an earlier life had begun is not continued.
  int life_ = 0;
  std::optional<Held> held_;
  std::int64_t beats_ = 0;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_VIRTUAL_WORKER_H_
