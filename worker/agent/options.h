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

#include <filesystem>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/flags.h"
#include "base/log.h"
#include "base/secret.h"
#include "spans/exporter.h"
#include "tls/credentials.h"
#include "tls/join.h"
#include "worker/agent/node/gpus.h"
#include "worker/agent/node/stock.h"
#include "worker/agent/process/checkpoint_hook.h"
#include "worker/agent/trial/trial_folders.h"

namespace frostline::agent {

inline constexpr int kMaxSlots = 1024;  // the contract's bound

struct AgentOptions {
  std::string connect = "127.0.0.1:7070";
  bool connect_is_given = false;
  tls::AccessFiles access;
  SecretString join;  // what stands behind --join
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

// The flags that say where the coordinator is, and who the worker is.

// An invitation says all that their variables would, so none counts for a
// worker that `joins`. `options` outlives the parse.
std::vector<Flag> AccessFlags(bool joins, AgentOptions* options);

// Says, before the parse, whether there is a --join.
bool HasJoin(int argc, const char* const* argv);

// Answers REQUEST_INVALID where a flag contradicts --join.
absl::Status CheckAccess(const AgentOptions& options);

// Looks for the program of a trainer's command line, and for the script where
// the program is an interpreter, before a trial is lost on it. Returns
// REQUEST_INVALID naming what is not there or cannot be executed. It passes
// what only a shell understands: variables, quotes, pipes, its own commands.
absl::Status CheckExec(const std::string& command);

// The program of --exec trains, else the frostline-trainer beside this binary,
// with --registry.

// Fills an empty `exec` and makes `registry` absolute, for the trainer's
// $FROSTLINE_REGISTRY. Returns REQUEST_INVALID naming the option when neither
// is given, the registry is no folder or lacks a file, or `programs` has no
// frostline-trainer; TRAINER_SYNTAX, with line and column, of a registry that
// is malformed; TRAINER_START where the program of `exec` is not there.
absl::Status ChooseTrainer(const std::filesystem::path& programs,
                           AgentOptions* options);

// It is empty when the system does not say.
std::filesystem::path FolderOfThisProgram();

// Where the line of --join comes from. On a command line others see it by `ps`
// until it is wiped; a file or standard input shows it to nobody.

// `given` is "-" for the first line of `input`, the path of a file of mode 0600
// (with a slash in it, or of one that is there), or the line itself. Errors
// quote a path alone.
absl::StatusOr<tls::JoinLine> ReadJoinLine(const SecretString& given,
                                           std::istream& input);

// Overwrites the token of a line behind --join, so that /proc/PID/cmdline has
// none. What was parsed before is a copy.
void HideJoinLine(int argc, char** argv);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_OPTIONS_H_
