// SPDX-License-Identifier: Apache-2.0
//
// Trainer to agent.
#include "worker/agent/protocol.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "proto/wire_error.h"
#include "worker/agent/checkpoint_id.h"
#include "worker/agent/json_text.h"
#include "worker/agent/message_fields.h"

namespace frostline::agent {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxReportMetrics = 64;
constexpr std::size_t kMaxFinishMetrics = 256;
constexpr std::size_t kMaxMessageTextBytes = 4096;
constexpr int kMaxEvaluations = 64;
constexpr std::size_t kMaxEvaluationBytes = 640 * 1024;
constexpr std::size_t kMaxShownLineBytes = 160;
constexpr char kUnfit[] = "unfit";
constexpr std::array<const char*, 4> kPrecisions = {"fp32", "tf32", "bf16",
                                                    "fp16"};

absl::StatusOr<TrainerMessage> ParseHello(const json& object) {
  RETURN_IF_ERROR(CheckKeys(object, {"protocol", "software"}));
  ASSIGN_OR_RETURN(const std::int64_t protocol,
                   CountAt(object, "protocol", -1));
  if (protocol != kProtocolVersion) {
    return BadField("protocol",
                    absl::StrCat("is ", protocol, ", not ", kProtocolVersion));
  }
  HelloMessage hello;
  ASSIGN_OR_RETURN(hello.software, TextAt(object, "software"));
  return hello;
}

bool IsPrecision(const std::string& text) {
  return std::find(kPrecisions.begin(), kPrecisions.end(), text) !=
         kPrecisions.end();
}

absl::StatusOr<std::vector<std::string>> PrecisionsAt(const json& object) {
  std::vector<std::string> precisions;
  const auto found = object.find("precisions");
  if (found == object.end() || found->is_null()) return precisions;
  const auto bad = [] {
    return BadField("precisions", "is no list of fp32, tf32, bf16, fp16");
  };
  if (!found->is_array()) return bad();
  for (const json& each : *found) {
    if (!each.is_string() || !IsPrecision(each.get<std::string>())) {
      return bad();
    }
    precisions.push_back(each.get<std::string>());
  }
  return precisions;
}

absl::StatusOr<TrainerMessage> ParseReport(const json& object) {
  RETURN_IF_ERROR(CheckKeys(
      object, {"step", "total_steps", "metrics", "precision", "precisions",
               "phase", "epoch", "total_epochs", "remaining_s"}));
  ReportMessage report;
  ASSIGN_OR_RETURN(report.step, CountAt(object, "step", -1));
  ASSIGN_OR_RETURN(report.total_steps, CountAt(object, "total_steps", 0));
  ASSIGN_OR_RETURN(report.metrics, MetricsAt(object, kMaxReportMetrics));
  ASSIGN_OR_RETURN(report.precision, TextAt(object, "precision"));
  if (!report.precision.empty() && !IsPrecision(report.precision)) {
    return BadField("precision", "is none of fp32, tf32, bf16, fp16");
  }
  ASSIGN_OR_RETURN(report.precisions, PrecisionsAt(object));
  ASSIGN_OR_RETURN(report.progress, ProgressAt(object));
  return report;
}

absl::StatusOr<TrainerMessage> ParseCheckpoint(const json& object) {
  RETURN_IF_ERROR(CheckKeys(object, {"id", "step", "sha256", "bytes"}));
  CheckpointMessage message;
  ASSIGN_OR_RETURN(const std::string id, TextAt(object, "id"));
  ASSIGN_OR_RETURN(const std::string sha256, TextAt(object, "sha256"));
  ASSIGN_OR_RETURN(const std::int64_t step, CountAt(object, "step", -1));
  ASSIGN_OR_RETURN(const std::int64_t bytes, CountAt(object, "bytes", 0));
  if (id.size() > kMaxCheckpointName || !CheckId(id, "id").ok()) {
    return BadField("id",
                    absl::StrCat("is no name of 1 to ", kMaxCheckpointName,
                                 " of a-z, 0-9, '.', '_', '-'"));
  }
  const bool hex =
      sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!sha256.empty() && (sha256.size() != 64 || !hex)) {
    return BadField("sha256", "is not 64 lower-case hexadecimal digits");
  }
  message.checkpoint.set_id(id);
  message.checkpoint.set_sha256(sha256);
  message.checkpoint.set_step(step);
  message.checkpoint.set_bytes(bytes);
  return message;
}

absl::StatusOr<FinishMessage::State> StateAt(const json& object) {
  using State = FinishMessage::State;
  ASSIGN_OR_RETURN(const std::string state, TextAt(object, "state"));
  if (state == "succeeded") return State::kSucceeded;
  if (state == "infeasible") return State::kInfeasible;
  if (state == "failed") return State::kFailed;
  if (state == "pruned") return State::kPruned;
  if (state == "stopped") return State::kStopped;
  return BadField("state",
                  "is none of succeeded, infeasible, failed, pruned, stopped");
}

absl::StatusOr<v1::FailureClass> FailureAt(const json& object) {
  ASSIGN_OR_RETURN(const std::string failure, TextAt(object, "class"));
  if (failure.empty() || failure == "trial") return v1::FAILURE_CLASS_TRIAL;
  if (failure == "out_of_memory") return v1::FAILURE_CLASS_OUT_OF_MEMORY;
  if (failure == "infrastructure" || failure == kUnfit) {
    return v1::FAILURE_CLASS_INFRASTRUCTURE;
  }
  return BadField("class",
                  "is none of trial, out_of_memory, infrastructure, unfit");
}

absl::StatusOr<TrainerMessage> ParseFinish(const json& object) {
  RETURN_IF_ERROR(
      CheckKeys(object, {"state", "metrics", "usage", "cause", "class",
                         "precisions", "examples", "evaluations"}));
  FinishMessage finish;
  ASSIGN_OR_RETURN(finish.state, StateAt(object));
  ASSIGN_OR_RETURN(finish.metrics, MetricsAt(object, kMaxFinishMetrics));
  ASSIGN_OR_RETURN(finish.failure, FailureAt(object));
  ASSIGN_OR_RETURN(const std::string failure, TextAt(object, "class"));
  finish.is_unfit =
      finish.state == FinishMessage::State::kFailed && failure == kUnfit;
  ASSIGN_OR_RETURN(finish.precisions, PrecisionsAt(object));
  ASSIGN_OR_RETURN(const std::string cause, TextAt(object, "cause"));
  finish.cause = proto::CleanText(cause, kMaxMessageTextBytes);
  v1::Usage usage;
  ASSIGN_OR_RETURN(const bool has_usage, MessageAt(object, "usage", &usage));
  if (has_usage) finish.usage = std::move(usage);
  v1::ExampleOutcomes examples;
  ASSIGN_OR_RETURN(const bool has_examples,
                   MessageAt(object, "examples", &examples));
  if (has_examples) finish.examples = std::move(examples);
  v1::Outcome outcome;
  ASSIGN_OR_RETURN(const bool has_evaluations,
                   ListAt(object, "evaluations", &outcome));
  if (has_examples && has_evaluations) {
    return BadField("evaluations", "is there beside examples");
  }
  if (outcome.evaluations_size() > kMaxEvaluations) {
    return BadField("evaluations",
                    absl::StrCat("has more than ", kMaxEvaluations, " sets"));
  }
  if (outcome.ByteSizeLong() > kMaxEvaluationBytes) {
    return BadField("evaluations", "takes more than 640 KiB");
  }
  finish.evaluations.assign(outcome.evaluations().begin(),
                            outcome.evaluations().end());
  return finish;
}

absl::StatusOr<TrainerMessage> ParseLog(const json& object) {
  RETURN_IF_ERROR(CheckKeys(object, {"text"}));
  ASSIGN_OR_RETURN(std::string text, TextAt(object, "text"));
  return LogMessage{std::move(text), true};
}

absl::StatusOr<TrainerMessage> ParseMessage(const std::string& line) {
  if (line.size() > kMaxLineBytes) return BadField("line", "is over 1 MiB");
  const auto object = ParseJsonText(line);
  if (!object.has_value()) {
    return BadField("line", "is no JSON object in UTF-8");
  }
  ASSIGN_OR_RETURN(const std::string type, TextAt(*object, "type"));
  if (type == "hello") return ParseHello(*object);
  if (type == "report") return ParseReport(*object);
  if (type == "checkpoint") return ParseCheckpoint(*object);
  if (type == "finish") return ParseFinish(*object);
  if (type == "log") return ParseLog(*object);
  return BadField("type", "is none of hello, report, checkpoint, finish, log");
}

bool IsMessage(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && line[first] == '{' &&
         line.find("\"type\"") != std::string::npos;
}

}  // namespace

absl::StatusOr<TrainerMessage> ParseTrainerLine(const std::string& line) {
  if (!IsMessage(line)) return LogMessage{line, false};
  auto message = ParseMessage(line);
  if (message.ok()) return message;
  const auto detail = DetailOf(message.status());
  return MakeError(
      ErrorId::kTrainerProtocol,
      absl::StrCat(std::string(message.status().message()), " in the line ",
                   proto::CleanText(line, kMaxShownLineBytes)),
      detail->fix, detail->field);
}

}  // namespace frostline::agent
