// SPDX-License-Identifier: Apache-2.0
//
// File: protocol.h
//
// The lines of JSON that an agent and a trainer exchange;
// docs/reference/trainer-protocol.md says what they mean.
#ifndef FROSTLINE_WORKER_AGENT_PROCESS_PROTOCOL_H_
#define FROSTLINE_WORKER_AGENT_PROCESS_PROTOCOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

// The longest name of a checkpoint; its id then has at most 64 bytes.
inline constexpr std::size_t kMaxCheckpointName = 40;

// The id of a checkpoint: "17.2.epoch-3" is "epoch-3" of attempt 2 of trial 17.
// So another attempt can find it, and no name is ever a path.
struct CheckpointId {
  std::int64_t trial = 0;
  std::int64_t attempt = 0;
  std::string name;
};

// `name` and `lease` must be valid.
std::string PrintCheckpointId(const v1::LeaseRef& lease,
                              const std::string& name);
std::optional<CheckpointId> ParseCheckpointId(const std::string& text);

inline constexpr int kProtocolVersion = 1;
// The longest line, without its newline.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

using Metrics = std::map<std::string, double>;

// The messages of a trainer.
struct HelloMessage {
  std::string software;
};

// How far the trial is, in all fields of one report.
struct ProgressMessage {
  std::string phase;  // a word of the protocol; empty: not said
  double epoch = 0.0;
  double total_epochs = 0.0;               // 0: unknown
  std::optional<double> remaining_s = {};  // nothing: unknown
};

struct ReportMessage {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;  // 0: unknown
  Metrics metrics;
  std::string precision;  // what the trial is computed in; empty: not said
  // Those in which the trainer computes at full speed; empty: not said.
  std::vector<std::string> precisions;
  std::optional<ProgressMessage> progress;  // nothing: not said
};

struct CheckpointMessage {
  v1::Checkpoint checkpoint;
};

struct FinishMessage {
  enum class State { kSucceeded, kInfeasible, kFailed, kPruned, kStopped };
  State state = State::kSucceeded;
  Metrics metrics;
  v1::FailureClass failure = v1::FAILURE_CLASS_TRIAL;
  bool is_unfit = false;                // failed, but another worker can do it
  std::vector<std::string> precisions;  // as of a report
  std::string cause;
  std::optional<v1::Usage> usage;
  std::optional<v1::ExampleOutcomes> examples;
  std::vector<v1::ExampleOutcomes> evaluations;  // instead of `examples`
};

// A line for the log. Any line that is no message is one, since people print().
struct LogMessage {
  std::string text;
  bool is_message = false;
};

using TrainerMessage =
    std::variant<HelloMessage, ReportMessage, CheckpointMessage, FinishMessage,
                 LogMessage>;

// Reads a line of a trainer. It is a message if it starts with '{' and has
// "type" in double quotes; any other line is a LogMessage. The error is
// TRAINER_PROTOCOL for a message with a mistake in any field; it names the line
// and the field.
absl::StatusOr<TrainerMessage> ParseTrainerLine(const std::string& line);

// Return the lines for a trainer, each with its newline. `checkpoint_path` is
// where the lease's checkpoint lies on this node, or empty. `takes` says what
// this agent takes besides what every agent does.
std::string TrialLine(const v1::Lease& lease, const std::string& folder,
                      const std::string& checkpoint_path,
                      const std::vector<std::string>& takes = {});
std::string StopLine(const std::string& reason);
std::string ExitLine();

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_PROTOCOL_H_
