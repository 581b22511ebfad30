// SPDX-License-Identifier: Apache-2.0
//
// File: gpus.h
//
// The GPUs of a node, what they do, and a watch over them.
#ifndef FROSTLINE_WORKER_AGENT_NODE_GPUS_H_
#define FROSTLINE_WORKER_AGENT_NODE_GPUS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

inline constexpr char kGpuFolder[] = "/proc/driver/nvidia/gpus";

// GPUs come in the order of their bus addresses.
v1::Hardware DetectHardware(const std::string& gpu_folder);

// Names each GPU that this process may use: those in `visible`
// (CUDA_VISIBLE_DEVICES, or null) up to the first that is none, else 0, 1, …
// for the GPUs of `hardware`.
std::vector<std::string> GpuSlots(const char* visible,
                                  const v1::Hardware& hardware);

// Asks the driver what its GPUs do, by NVIDIA's NVML. The library comes with
// the driver and is opened when the agent runs, so nothing of it is needed to
// build, and a node without it has an agent all the same.

inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

// The library NVML, opened. One thread at a time uses it. A call may hang as
// long as the driver does.
class Nvml {
 public:
  // Null where there is no such library, or no driver that answers.
  static std::unique_ptr<Nvml> Open(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // In the order of the bus, at most 64. What the driver does not say is
  // absent, and what makes no sense (a use of 900 %) as well.
  std::vector<v1::GpuLoad> Read() const;

 private:
  struct Calls;

  explicit Nvml(std::unique_ptr<Calls> calls);

  const std::unique_ptr<Calls> calls_;
};

// Those that `visible` (CUDA_VISIBLE_DEVICES, or null) lets a process use: by
// number, or by the beginning of their uuid. A part of a GPU (MIG) is none.
std::vector<v1::GpuLoad> VisibleOnly(const char* visible,
                                     std::vector<v1::GpuLoad> gpus);

// Looks at the GPUs once a second, on a thread of its own: a driver that does
// not answer may hold that thread for ever, and no heartbeat. It is
// thread-safe.

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

#endif  // FROSTLINE_WORKER_AGENT_NODE_GPUS_H_
