// SPDX-License-Identifier: Apache-2.0
//
// File: protocol.h
//
// docs/reference/trainer-protocol.md says what these lines of JSON mean.
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

// "17.2.epoch-3" names checkpoint "epoch-3" of attempt 2 of trial 17, so that
// another attempt finds it, and no name is ever a path.

// An id has at most 64 bytes.
inline constexpr std::size_t kMaxCheckpointName = 40;

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
// A line's newline does not count.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

using Metrics = std::map<std::string, double>;

struct HelloMessage {
  std::string software;
};

// How far the trial is, in all fields of one report.
struct ProgressMessage {
  std::string phase;  // a word of the protocol's; empty: not said
  double epoch = 0.0;
  double total_epochs = 0.0;               // 0: unknown
  std::optional<double> remaining_s = {};  // nothing: unknown
};

struct ReportMessage {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;  // 0: unknown
  Metrics metrics;
  std::string precision;  // what the trial is computed in; empty: not said
  // In which the trainer computes at full speed; none: it does not say.
  std::vector<std::string> precisions;
  std::optional<ProgressMessage> progress;  // nothing: none of it is said
};

struct CheckpointMessage {
  v1::Checkpoint checkpoint;
};

struct FinishMessage {
  enum class State { kSucceeded, kInfeasible, kFailed, kPruned, kStopped };
  State state = State::kSucceeded;
  Metrics metrics;
  v1::FailureClass failure = v1::FAILURE_CLASS_TRIAL;
  bool is_unfit = false;                // failed: another worker can do it
  std::vector<std::string> precisions;  // as of a report
  std::string cause;
  std::optional<v1::Usage> usage;
  std::optional<v1::ExampleOutcomes> examples;
  std::vector<v1::ExampleOutcomes> evaluations;  // instead of `examples`
};

// A line for the log, or any line that is no message: people print().
struct LogMessage {
  std::string text;
  bool is_message = false;
};

using TrainerMessage =
    std::variant<HelloMessage, ReportMessage, CheckpointMessage, FinishMessage,
                 LogMessage>;

// A line is a message if it starts with '{' and has "type" in double quotes.
// One that is not right to the last field is a TRAINER_PROTOCOL naming line and
// field. Any other line is a LogMessage.
absl::StatusOr<TrainerMessage> ParseTrainerLine(const std::string& line);

// Each ends in a newline. `checkpoint_path` is where the lease's checkpoint
// lies here, or empty; `takes` says what else this agent takes, beside what it
// always does.
std::string TrialLine(const v1::Lease& lease, const std::string& folder,
                      const std::string& checkpoint_path,
                      const std::vector<std::string>& takes = {});
std::string StopLine(const std::string& reason);
std::string ExitLine();

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_PROTOCOL_H_
