// SPDX-License-Identifier: Apache-2.0
//
// File: options.h
//
// The command line of frostline-worker:
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
#include "worker/agent/command.h"
#include "worker/agent/node/gpus.h"
#include "worker/agent/node/stock.h"
#include "worker/agent/process/checkpoint_hook.h"
#include "worker/agent/trial/trial_folders.h"

namespace frostline::agent {

inline constexpr int kMaxSlots = 1024;  // the contract's bound

// What the command line says, and what the agent finds out besides.
struct AgentOptions {
  std::string connect = "127.0.0.1:7070";
  bool connect_is_given = false;
  tls::AccessFiles access;
  SecretString join;  // the value of --join
  std::string id;     // filled from host and process when not given
  bool id_is_given = false;
  std::string host_id;  // the name of a worker that joins, when not given
  int slots = 1;
  bool slot_per_gpu = false;   // --slots gpu
  bool fresh_process = false;  // a trainer for each trial
  std::string exec;            // the trainer's command line
  PlainCommand command;        // of --command, which gives `exec`
  std::string registry;        // may be empty
  std::string run_dir = "./frostline-runs";
  std::string prefix_dir;         // empty: RUN_DIR/prefix; "off": none
  std::int64_t prefix_bytes = 0;  // 0: a tenth of its file system
  std::map<std::string, std::string> labels;
  std::string study;  // id; empty: any
  // Only studies that name the trainer of --exec, as the label says it.
  bool serves_who_names_it = false;
  bool exit_when_done = false;
  KeepRules keep;
  CheckpointHook checkpoint_hook{"", std::chrono::seconds(20)};
  int slots_per_gpu = 1;
  int gpus_per_slot = 1;
  Duration idle_timeout{};                           // zero: never
  Duration stop_grace = std::chrono::seconds(20);    // for a checkpoint
  Duration hang_after = std::chrono::minutes(10);    // zero: never
  Duration orphan_limit = std::chrono::minutes(30);  // zero: none
  // No flag sets the fields from here to `look_at_stock`.
  std::string gpu_folder = kGpuFolder;
  std::string nvml = kNvmlLibrary;
  Duration stock_interval = std::chrono::seconds(5);  // between two looks
  // How long a slot waits for a process that SIGKILL did not end. A disk or GPU
  // that recovers has mostly done so by then; otherwise only a restart of the
  // node helps.
  Duration unkillable_patience = std::chrono::minutes(5);
  // The worker's certificate is that of identity.h, so the agent renews it.
  bool has_joined = false;
  // How to look at the stock; empty: by reading the files of `registry`.
  LookAtStock look_at_stock;
  spans::Collector collector;  // where spans go
  LogLevel log_level = LogLevel::kInfo;
  bool wants_log_here = false;  // on a terminal: a flag about the log is given
  // The text that --help or --version asks for. If it is not empty, print it
  // and exit with 0.
  std::string print;
};

// Parses the command line. The error is REQUEST_INVALID and names the option.
absl::StatusOr<AgentOptions> ParseAgentOptions(int argc,
                                               const char* const* argv);

// Make a worker id: of "GPU_03.lan" the first makes "gpu_03.lan", the second,
// with process 4711, "gpu_03.lan-4711".
std::string HostWorkerId(const std::string& host);
std::string DefaultWorkerId(const std::string& host, int process);

// Returns the flags that say where the coordinator is and who the worker is. An
// invitation says all of this, so their environment variables do not count for
// a worker that `joins`. `options` outlives the parse.
std::vector<Flag> AccessFlags(bool joins, AgentOptions* options);

// Says whether there is a --join. It is needed before the parse.
bool HasJoin(int argc, const char* const* argv);

// The error is REQUEST_INVALID when a flag contradicts --join.
absl::Status CheckAccess(const AgentOptions& options);

// Checks that the program of a trainer's command line is there, and the script
// if the program is an interpreter, before a trial is lost on it. The error is
// REQUEST_INVALID, at `flag`, and names what is missing or cannot be executed.
// It does not check what only a shell understands: variables, quotes, pipes,
// its own commands.
absl::Status CheckExec(const std::string& command,
                       const std::string& flag = "--exec");

// Chooses the program that trains: that of --exec, else the frostline-trainer
// in `programs` with --registry. Fills an empty `exec`, and makes `registry`
// absolute, for the trainer's $FROSTLINE_REGISTRY. The error is TRAINER_SYNTAX,
// with line and column, for a malformed registry. It is REQUEST_INVALID, naming
// the option, when neither is given, the registry is no folder or lacks a file,
// `programs` has no frostline-trainer, or CheckExec() refuses `exec`.
absl::Status ChooseTrainer(const std::filesystem::path& programs,
                           AgentOptions* options);

// Returns the name by which studies call the trainer of a command line: the
// script or module that an interpreter or a launcher runs, else its program.
// "train.py" of "env OMP_NUM_THREADS=4 python3 /srv/train.py --fast", and of
// "torchrun --nproc-per-node 2 train.py".
std::string TrainerNameOf(const std::string& command);

// Gives the worker of another trainer, of this command line, its label, unless
// a person gave one, and decides whether it serves only studies that name it.
// An empty label means that it serves whatever there is. Without a command line
// it does nothing.
void NameTrainer(const std::string& command, AgentOptions* options);

// Returns where the log goes when a person started the worker on a terminal.
std::string LogFileOf(const AgentOptions& options);

// Says for people which studies the worker serves.
std::string DescribeService(const AgentOptions& options);

// Returns "" when the system does not say.
std::filesystem::path FolderOfThisProgram();

// Reads the invitation that --join gives. `given` is "-" for the first line of
// `input`, the path of a file of mode 0600, or the line itself. It is a path if
// it has a slash or such a file exists. On a command line others see the token
// with `ps` until it is wiped; a file or standard input shows it to nobody.
// Errors quote only a path, never a line.
absl::StatusOr<tls::JoinLine> ReadJoinLine(const SecretString& given,
                                           std::istream& input);

// Overwrites the token of --join in `argv`, so that /proc/PID/cmdline has none.
// What was parsed before is a copy and stays.
void HideJoinLine(int argc, char** argv);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_OPTIONS_H_
