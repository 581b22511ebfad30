// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/stock_watch.h"

#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace frostline::agent {
namespace {

using RealTime = std::chrono::steady_clock;  // CondVar waits by it

// A disk that is merely slow has answered by then.
constexpr Duration kStockWatchEndPatience = std::chrono::seconds(2);

}  // namespace

struct StockWatch::State {
  Mutex mutex;
  CondVar changed;
  std::function<void()> looked ABSL_GUARDED_BY(mutex);
  StockLook last ABSL_GUARDED_BY(mutex);
  std::int64_t asked ABSL_GUARDED_BY(mutex) = 1;
  std::int64_t begun ABSL_GUARDED_BY(mutex) = 0;
  std::int64_t over ABSL_GUARDED_BY(mutex) = 0;
  bool is_unwanted ABSL_GUARDED_BY(mutex) = false;
  bool has_ended ABSL_GUARDED_BY(mutex) = false;  // the thread
};

StockWatch::StockWatch(LookAtStock look, Duration interval,
                       std::function<void()> looked)
    : state_(std::make_shared<State>()) {
  const MutexLock lock(&state_->mutex);
  state_->looked = std::move(looked);
  thread_ = std::thread([state = state_, look = std::move(look), interval] {
    Loop(*state, look, interval);
  });
}

StockWatch::~StockWatch() {
  bool has_ended = false;
  {
    const MutexLock lock(&state_->mutex);
    state_->is_unwanted = true;
    state_->looked = nullptr;
    state_->changed.SignalAll();
    const auto until = RealTime::now() + kStockWatchEndPatience;
    while (!state_->has_ended &&
           state_->changed.WaitUntil(&state_->mutex, until)) {
    }
    has_ended = state_->has_ended;
  }
  has_ended ? thread_.join() : thread_.detach();
}

void StockWatch::Loop(State& state, const LookAtStock& look,
                      Duration interval) {
  auto next = RealTime::now();
  while (true) {
    bool anew = false;
    {
      const MutexLock lock(&state.mutex);
      while (!state.is_unwanted && state.asked <= state.begun &&
             state.changed.WaitUntil(&state.mutex, next)) {
      }
      if (state.is_unwanted) break;
      anew = state.asked > state.begun;
      ++state.begun;
    }
    StockLook seen = look(anew);
    next = RealTime::now() + interval;
    const MutexLock lock(&state.mutex);
    state.last = std::move(seen);
    state.over = state.begun;
    if (state.looked) state.looked();
    state.changed.SignalAll();
  }
  const MutexLock lock(&state.mutex);
  state.has_ended = true;
  state.changed.SignalAll();
}

std::int64_t StockWatch::Ask() {
  const MutexLock lock(&state_->mutex);
  state_->asked = state_->begun + 1;
  state_->changed.SignalAll();
  return state_->asked;
}

bool StockWatch::Await(std::int64_t number, Duration most) const {
  const auto until = RealTime::now() + most;
  const MutexLock lock(&state_->mutex);
  while (state_->over < number &&
         state_->changed.WaitUntil(&state_->mutex, until)) {
  }
  return state_->over >= number;
}

StockLook StockWatch::last() const {
  const MutexLock lock(&state_->mutex);
  return state_->last;
}

}  // namespace frostline::agent
