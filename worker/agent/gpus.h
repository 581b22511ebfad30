// SPDX-License-Identifier: Apache-2.0
//
// File: gpus.h
//
// Looks at the GPUs once a second, on a thread of its own: a driver that does
// not answer may hold that thread for ever, and no heartbeat. It is
// thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_GPUS_H_
#define FROSTLINE_WORKER_AGENT_GPUS_H_

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

class GpuWatch {
 public:
  // The thread calls it; it may refer to nothing that ends before the process.
  using Look = std::function<std::vector<v1::GpuLoad>()>;
  // Called once, on the thread; null: there is nothing to look at, and the
  // thread ends.
  using Open = std::function<Look()>;

  GpuWatch(Open open, Duration interval);
  // Waits 2 s at most for a look under way, then leaves the thread to itself.
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  // How busy they were on average since the last Take(), the rest as of the
  // last look; the same again where there was none since. Nothing once the last
  // look is ten intervals old.
  std::optional<v1::NodeLoad> Take();

 private:
  struct State;
  static void Loop(State& state, const Open& open, Duration interval);

  // The thread has a share of it.
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

// The GPUs that `visible` (CUDA_VISIBLE_DEVICES, or null) names, by NVML.
GpuWatch::Open OpensNvml(const std::string& library, const char* visible);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_GPUS_H_
