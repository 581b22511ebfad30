// SPDX-License-Identifier: Apache-2.0
//
// File: options.h
//
// The command line of frostline-worker looks so:
//
//   frostline-worker --connect host:7070 --slots gpu --registry /srv/models
//   frostline-worker --connect host:7070 --slots 2 --exec "python train.py"
#ifndef FROSTLINE_WORKER_AGENT_OPTIONS_H_
#define FROSTLINE_WORKER_AGENT_OPTIONS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "spans/exporter.h"
#include "tls/credentials.h"
#include "worker/agent/checkpoint_hook.h"
#include "worker/agent/hardware.h"
#include "worker/agent/keep.h"
#include "worker/agent/nvml.h"
#include "worker/agent/stock.h"

namespace frostline::agent {

inline constexpr int kMaxSlots = 1024;  // the contract's bound

struct AgentOptions {
  std::string connect = "127.0.0.1:7070";
  bool connect_is_given = false;
  tls::AccessFiles access;
  SecretString join;  // what stands behind --join (join_source.h)
  std::string id;     // filled from host and process when not given
  bool id_is_given = false;
  std::string host_id;  // the name of a worker that joins, when not given
  int slots = 1;
  bool slot_per_gpu = false;  // --slots gpu
  std::string exec;           // the trainer's command line
  std::string registry;       // may be empty
  std::string run_dir = "./frostline-runs";
  std::string prefix_dir;         // empty: RUN_DIR/prefix; "off": none
  std::int64_t prefix_bytes = 0;  // 0: a tenth of its file system
  std::map<std::string, std::string> labels;
  std::string study;  // id; empty: any
  bool exit_when_done = false;
  KeepRules keep;
  CheckpointHook checkpoint_hook{"", std::chrono::seconds(20)};
  int slots_per_gpu = 1;
  Duration idle_timeout{};                           // zero: never
  Duration stop_grace = std::chrono::seconds(20);    // for a checkpoint
  Duration hang_after = std::chrono::minutes(10);    // zero: never
  Duration orphan_limit = std::chrono::minutes(30);  // zero: none
  // What follows is not on the command line.
  std::string gpu_folder = kGpuFolder;
  std::string nvml = kNvmlLibrary;
  Duration stock_interval = std::chrono::seconds(5);  // between two looks
  // A disk or a GPU that answers again has mostly done so by then; what holds a
  // process for longer is mended by nothing but a restart of the node.
  Duration unkillable_patience = std::chrono::minutes(5);
  // Its certificate is of identity.h, so the agent renews it.
  bool has_joined = false;
  // Empty: at the files of `registry`.
  LookAtStock look_at_stock;
  spans::Collector collector;  // of spans
  LogLevel log_level = LogLevel::kInfo;
  // --help or --version asked for this text: print it, exit with 0.
  std::string print;
};

// Returns REQUEST_INVALID naming the option.
absl::StatusOr<AgentOptions> ParseAgentOptions(int argc,
                                               const char* const* argv);

// "GPU_03.lan" makes "gpu_03.lan", and with 4711 "gpu_03.lan-4711".
std::string HostWorkerId(const std::string& host);
std::string DefaultWorkerId(const std::string& host, int process);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_OPTIONS_H_
