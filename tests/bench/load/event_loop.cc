// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/event_loop.h"

#include <algorithm>
#include <chrono>

namespace frostline::bench {
namespace {

// Bounds how late Stop() is noticed.
constexpr Duration kLongestNap = std::chrono::milliseconds(20);

std::chrono::system_clock::time_point InSystemTime(Duration from_now) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::microseconds>(from_now);
}

}  // namespace

EventLoop::~EventLoop() {
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void EventLoop::Enter(Pending* call, Duration deadline) {
  call->context.set_deadline(InSystemTime(deadline));
  pending_.insert(call);
}

void EventLoop::After(Duration delay, Work work) {
  if (stopping_) return;
  timers_.emplace(clock_.Steady() + delay, std::move(work));
}

void EventLoop::RunDueTimers() {
  const SteadyTime now = clock_.Steady();
  while (!timers_.empty() && timers_.begin()->first <= now && !stopping_) {
    Work work = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    work();
  }
}

void EventLoop::Run() {
  bool cancelled = false;
  while (!stopping_ || !pending_.empty()) {
    if (stopping_ && !std::exchange(cancelled, true)) {
      for (Pending* const call : pending_) call->context.TryCancel();
    }
    Duration nap = kLongestNap;
    if (!timers_.empty()) {
      nap = std::clamp(timers_.begin()->first - clock_.Steady(),
                       Duration::zero(), nap);
    }
    void* tag = nullptr;
    bool ok = false;
    if (queue_.AsyncNext(&tag, &ok, InSystemTime(nap)) ==
        grpc::CompletionQueue::GOT_EVENT) {
      const std::unique_ptr<Pending> call(static_cast<Pending*>(tag));
      pending_.erase(call.get());
      call->Finish();
    }
    RunDueTimers();
  }
  timers_.clear();
}

}  // namespace frostline::bench
