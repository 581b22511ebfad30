// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "worker/agent/gpus.h"
#include "worker/agent/nvml.h"

namespace frostline::agent {
namespace {

using RealTime = std::chrono::steady_clock;  // CondVar waits by it

// A driver that is merely slow has answered by then.
constexpr Duration kGpuWatchEndPatience = std::chrono::seconds(2);

// One that is late is no reason to say nothing.
constexpr int kLooksUntilStale = 10;

struct Sum {
  double total = 0;
  int looks = 0;
};

}  // namespace

struct GpuWatch::State {
  Mutex mutex;
  CondVar changed;
  std::vector<v1::GpuLoad> last ABSL_GUARDED_BY(mutex);
  std::map<std::string, Sum> busy ABSL_GUARDED_BY(mutex);  // by uuid
  bool has_news ABSL_GUARDED_BY(mutex) = false;
  v1::NodeLoad told ABSL_GUARDED_BY(mutex);
  RealTime::time_point stale ABSL_GUARDED_BY(mutex) = {};  // from then on
  bool is_unwanted ABSL_GUARDED_BY(mutex) = false;
  bool has_ended ABSL_GUARDED_BY(mutex) = false;  // the thread
};

GpuWatch::GpuWatch(Open open, Duration interval)
    : state_(std::make_shared<State>()),
      thread_([state = state_, open = std::move(open), interval] {
        Loop(*state, open, interval);
        const MutexLock lock(&state->mutex);
        state->has_ended = true;
        state->changed.SignalAll();
      }) {}

GpuWatch::~GpuWatch() {
  bool has_ended = false;
  {
    const MutexLock lock(&state_->mutex);
    state_->is_unwanted = true;
    state_->changed.SignalAll();
    const auto until = RealTime::now() + kGpuWatchEndPatience;
    while (!state_->has_ended &&
           state_->changed.WaitUntil(&state_->mutex, until)) {
    }
    has_ended = state_->has_ended;
  }
  has_ended ? thread_.join() : thread_.detach();
}

void GpuWatch::Loop(State& state, const Open& open, Duration interval) {
  const Look look = open();
  if (look == nullptr) return;
  while (true) {
    std::vector<v1::GpuLoad> seen = look();
    const auto next = RealTime::now() + interval;
    const MutexLock lock(&state.mutex);
    for (const v1::GpuLoad& gpu : seen) {
      if (!gpu.has_utilization()) continue;
      Sum& sum = state.busy[gpu.uuid()];
      sum.total += gpu.utilization();
      ++sum.looks;
    }
    state.last = std::move(seen);
    state.has_news = true;
    state.stale = RealTime::now() + kLooksUntilStale * interval;
    while (!state.is_unwanted && state.changed.WaitUntil(&state.mutex, next)) {
    }
    if (state.is_unwanted) return;
  }
}

std::optional<v1::NodeLoad> GpuWatch::Take() {
  const MutexLock lock(&state_->mutex);
  if (RealTime::now() >= state_->stale) return std::nullopt;
  if (!std::exchange(state_->has_news, false)) return state_->told;
  v1::NodeLoad& load = state_->told;
  load.Clear();
  for (const v1::GpuLoad& gpu : state_->last) {
    v1::GpuLoad& told = *load.add_gpus() = gpu;
    const auto busy = state_->busy.find(gpu.uuid());
    if (busy == state_->busy.end()) continue;
    told.set_utilization(busy->second.total / busy->second.looks);
  }
  state_->busy.clear();
  return load;
}

GpuWatch::Open OpensNvml(const std::string& library, const char* visible) {
  const std::optional<std::string> names =
      visible == nullptr ? std::nullopt : std::optional<std::string>(visible);
  return [library, names]() -> GpuWatch::Look {
    const std::shared_ptr<const Nvml> nvml = Nvml::Open(library);
    if (nvml == nullptr) return nullptr;
    return [nvml, names] {
      return VisibleOnly(names.has_value() ? names->c_str() : nullptr,
                         nvml->Read());
    };
  };
}

}  // namespace frostline::agent
