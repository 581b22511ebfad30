// SPDX-License-Identifier: Apache-2.0
//
// File: stock_watch.h
//
// Looks at the registry again and again, on a thread of its own: a disk that
// does not answer may hold that thread for ever, and nobody else. It is
// thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_STOCK_WATCH_H_
#define FROSTLINE_WORKER_AGENT_STOCK_WATCH_H_

#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "worker/agent/stock.h"

namespace frostline::agent {

class StockWatch {
 public:
  // It looks at once, and every `interval`. The thread calls `look`, which may
  // refer to nothing that ends before the process; and `looked` after each
  // look, under a lock, until the watch is destroyed.
  StockWatch(LookAtStock look, Duration interval, std::function<void()> looked);
  // Waits 2 s at most for a look under way, then leaves the thread to itself.
  ~StockWatch();
  StockWatch(const StockWatch&) = delete;
  StockWatch& operator=(const StockWatch&) = delete;

  // Wants a look that begins now, and reads the registry's files anew. The
  // answer is its number; the first look is number 1.
  std::int64_t Ask();
  // False when look `number` is not over after `most`.
  bool Await(std::int64_t number, Duration most) const;
  // Of the last look that is over.
  StockLook last() const;

 private:
  struct State;
  static void Loop(State& state, const LookAtStock& look, Duration interval);

  // The thread has a share of it.
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_STOCK_WATCH_H_
