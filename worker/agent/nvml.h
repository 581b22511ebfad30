// SPDX-License-Identifier: Apache-2.0
//
// File: nvml.h
//
// Asks the driver what its GPUs do, by NVIDIA's NVML. The library comes with
// the driver and is opened when the agent runs, so nothing of it is needed to
// build, and a node without it has an agent all the same.
#ifndef FROSTLINE_WORKER_AGENT_NVML_H_
#define FROSTLINE_WORKER_AGENT_NVML_H_

#include <memory>
#include <string>
#include <vector>

#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

// One thread at a time. A call may hang as long as the driver does.
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

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_NVML_H_
