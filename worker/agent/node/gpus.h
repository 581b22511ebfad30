// SPDX-License-Identifier: Apache-2.0
//
// File: gpus.h
//
// The GPUs of a node and how busy they are.
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

// Finds the node's hardware. GPUs are in the order of their bus addresses.
v1::Hardware DetectHardware(const std::string& gpu_folder);

// Returns the names of the GPUs that this process may use. They are those in
// `visible` (CUDA_VISIBLE_DEVICES) up to the first that is empty or negative;
// if it is null, 0, 1, … for the GPUs of `hardware`.
std::vector<std::string> GpuSlots(const char* visible,
                                  const v1::Hardware& hardware);

inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

// NVIDIA's library NVML, which says how busy the GPUs are. It comes with the
// driver and is opened at run time: it is not needed to build, and an agent
// runs on a node without it. One thread at a time uses it. A call hangs as long
// as the driver does.
class Nvml {
 public:
  // Returns null if there is no such library or no driver answers.
  static std::unique_ptr<Nvml> Open(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Returns the GPUs in the order of the bus, at most 64. A value is absent
  // when the driver does not say it or it makes no sense (a use of 900 %).
  std::vector<v1::GpuLoad> Read() const;

 private:
  struct Calls;

  explicit Nvml(std::unique_ptr<Calls> calls);

  const std::unique_ptr<Calls> calls_;
};

// Returns those of `gpus` that `visible` (CUDA_VISIBLE_DEVICES, or null) lets a
// process use. It names them by number, or by the beginning of their uuid. A
// part of a GPU (MIG) does not count.
std::vector<v1::GpuLoad> VisibleOnly(const char* visible,
                                     std::vector<v1::GpuLoad> gpus);

// Looks at the GPUs again and again, on a thread of its own: a driver that does
// not answer may hold that thread for ever, but no heartbeat. It is
// thread-safe.
class GpuWatch {
 public:
  // Looks at the GPUs once, on the thread. It may refer to nothing that ends
  // before the process.
  using Look = std::function<std::vector<v1::GpuLoad>()>;
  // Called once, on the thread, for the Look. Null means that there is nothing
  // to look at, and the thread ends.
  using Open = std::function<Look()>;

  GpuWatch(Open open, Duration interval);
  // Waits 2 s at most for a look under way, then leaves the thread to itself.
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  // Returns how busy the GPUs were on average since the last Take(), and the
  // other values as of the last look. Without a look since then it returns the
  // same again; nothing once the last look is ten intervals old.
  std::optional<v1::NodeLoad> Take();

 private:
  struct State;
  static void Loop(State& state, const Open& open, Duration interval);

  // Shared with the thread, which may outlive this object.
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

// Opens NVML to look at the GPUs that `visible` (CUDA_VISIBLE_DEVICES, or null)
// names.
GpuWatch::Open OpensNvml(const std::string& library, const char* visible);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_NODE_GPUS_H_
