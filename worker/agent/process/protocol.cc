// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/protocol.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "proto/served.h"
#include "proto/wire_error.h"

namespace frostline::agent {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 8;
// -Infinity before Infinity, so that the sign is not left outside.
constexpr const char* kBareWords[] = {"-Infinity", "Infinity", "NaN"};

// Index just behind the string that starts at `text[begin]`, a quote.
std::size_t SkipString(const std::string& text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

const char* BareWordAt(const std::string& text, std::size_t i) {
  for (const char* word : kBareWords) {
    if (text.compare(i, std::char_traits<char>::length(word), word) == 0) {
      return word;
    }
  }
  return nullptr;
}

// Nothing when it nests too deep.
std::optional<std::string> QuoteBareWords(const std::string& text) {
  std::string quoted;
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMaxDepth) return std::nullopt;
    const char* const word = BareWordAt(text, i);
    std::size_t next = i + 1;
    if (c == '"') next = SkipString(text, i);
    if (word == nullptr) {
      quoted.append(text, i, next - i);
    } else {
      quoted.append("\"").append(word).append("\"");
      next = i + std::char_traits<char>::length(word);
    }
    i = next;
  }
  return quoted;
}

}  // namespace

std::optional<json> ParseJsonText(const std::string& text) {
  const auto quoted = QuoteBareWords(text);
  if (!quoted.has_value()) return std::nullopt;
  json value = json::parse(*quoted, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

std::string PrintJsonText(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<double> NumberOf(const json& value) {
  using Limits = std::numeric_limits<double>;
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return Limits::quiet_NaN();
  if (value == "Infinity") return Limits::infinity();
  if (value == "-Infinity") return -Limits::infinity();
  return std::nullopt;
}

namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// "DIRECTION_MAXIMIZE" of enum Direction is "maximize".
std::string ShortName(const EnumValueDescriptor* value) {
  std::string prefix;
  for (const char c : value->type()->name()) {
    if (std::isupper(static_cast<unsigned char>(c)) && !prefix.empty()) {
      prefix += '_';
    }
    prefix += c;
  }
  prefix = absl::AsciiStrToUpper(prefix) + "_";
  const std::string& name = value->name();
  const bool prefixed = name.compare(0, prefix.size(), prefix) == 0;
  return absl::AsciiStrToLower(prefixed ? name.substr(prefix.size()) : name);
}

// `i` below 0: the field is not repeated.
json FieldJson(const Message& message, const FieldDescriptor* field, int i) {
  const Reflection& look = *message.GetReflection();
#define FROSTLINE_GET_(Type)                    \
  (i < 0 ? json(look.Get##Type(message, field)) \
         : json(look.GetRepeated##Type(message, field, i)))
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return FROSTLINE_GET_(Int32);
    case FieldDescriptor::CPPTYPE_INT64:
      return FROSTLINE_GET_(Int64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return FROSTLINE_GET_(UInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return FROSTLINE_GET_(UInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return FROSTLINE_GET_(Double);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return FROSTLINE_GET_(Float);
    case FieldDescriptor::CPPTYPE_BOOL:
      return FROSTLINE_GET_(Bool);
    case FieldDescriptor::CPPTYPE_STRING:
      return FROSTLINE_GET_(String);
    case FieldDescriptor::CPPTYPE_ENUM:
      return ShortName(i < 0 ? look.GetEnum(message, field)
                             : look.GetRepeatedEnum(message, field, i));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(i < 0 ? look.GetMessage(message, field)
                          : look.GetRepeatedMessage(message, field, i));
  }
#undef FROSTLINE_GET_
  return nullptr;
}

json MapJson(const Message& message, const FieldDescriptor* field) {
  json object = json::object();
  const Reflection& look = *message.GetReflection();
  const FieldDescriptor* const key = field->message_type()->map_key();
  const FieldDescriptor* const value = field->message_type()->map_value();
  for (int i = 0; i < look.FieldSize(message, field); ++i) {
    const Message& entry = look.GetRepeatedMessage(message, field, i);
    // Every map of the contract is keyed by a string.
    object[entry.GetReflection()->GetString(entry, key)] =
        FieldJson(entry, value, -1);
  }
  return object;
}

json ListJson(const Message& message, const FieldDescriptor* field) {
  json list = json::array();
  const int size = message.GetReflection()->FieldSize(message, field);
  for (int i = 0; i < size; ++i) list.push_back(FieldJson(message, field, i));
  return list;
}

json StructJson(const google::protobuf::Struct& fields) {
  json object = json::object();
  for (const auto& [name, value] : fields.fields()) {
    object[name] = ToJson(value);
  }
  return object;
}

}  // namespace

json ToJson(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kNumberValue:
      return value.number_value();
    case google::protobuf::Value::kStringValue:
      return value.string_value();
    case google::protobuf::Value::kBoolValue:
      return value.bool_value();
    case google::protobuf::Value::kStructValue:
      return StructJson(value.struct_value());
    case google::protobuf::Value::kListValue: {
      json list = json::array();
      for (const auto& item : value.list_value().values()) {
        list.push_back(ToJson(item));
      }
      return list;
    }
    default:
      return nullptr;
  }
}

json ToJson(const Message& message) {
  if (const auto* fields =
          dynamic_cast<const google::protobuf::Struct*>(&message)) {
    return StructJson(*fields);
  }
  if (const auto* value =
          dynamic_cast<const google::protobuf::Value*>(&message)) {
    return ToJson(*value);
  }
  json object = json::object();
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    object[field->name()] = field->is_map() ? MapJson(message, field)
                            : field->is_repeated()
                                ? ListJson(message, field)
                                : FieldJson(message, field, -1);
  }
  return object;
}

namespace {

// Written as we write it: no sign, no blank, no leading zero.
bool ReadNumber(const std::string& text, std::int64_t least,
                std::int64_t* number) {
  return absl::SimpleAtoi(text, number) && *number >= least &&
         absl::StrCat(*number) == text;
}

}  // namespace

std::string PrintCheckpointId(const v1::LeaseRef& lease,
                              const std::string& name) {
  const auto trial = ParseTrialName(lease.trial());
  const std::int64_t number = trial.ok() ? trial->number : 0;
  return absl::StrCat(number, ".", lease.attempt(), ".", name);
}

std::optional<CheckpointId> ParseCheckpointId(const std::string& text) {
  const std::vector<std::string> parts =
      absl::StrSplit(text, absl::MaxSplits('.', 2));
  CheckpointId id;
  // Trials are counted from 0, attempts from 1.
  if (parts.size() != 3 || !ReadNumber(parts[0], 0, &id.trial) ||
      !ReadNumber(parts[1], 1, &id.attempt) || !CheckId(parts[2], "id").ok()) {
    return std::nullopt;
  }
  id.name = parts[2];
  return id;
}

// Every error here is a TRAINER_PROTOCOL that names the field.

absl::Status BadField(const std::string& field, const std::string& cause);

// Allows no keys but these and "type".
absl::Status CheckKeys(const nlohmann::json& object,
                       std::initializer_list<const char*> known);

// It is empty when absent.
absl::StatusOr<std::string> TextAt(const nlohmann::json& object,
                                   const char* key);
// Reads a whole number from 0; `fallback` below 0 makes it required.
absl::StatusOr<std::int64_t> CountAt(const nlohmann::json& object,
                                     const char* key, std::int64_t fallback);
// Reads "metrics", empty when absent.
absl::StatusOr<Metrics> MetricsAt(const nlohmann::json& object,
                                  std::size_t most);
// Reads how far the trial is; nothing, when none of its fields is there.
absl::StatusOr<std::optional<ProgressMessage>> ProgressAt(
    const nlohmann::json& object);
// Fills `message` from the object at `key`, and is false when absent.
absl::StatusOr<bool> MessageAt(const nlohmann::json& object, const char* key,
                               google::protobuf::Message* message);
// Fills the field `key` of `message` alone, a list of messages.
absl::StatusOr<bool> ListAt(const nlohmann::json& object, const char* key,
                            google::protobuf::Message* message);

namespace {

constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxShownFieldBytes = 160;
constexpr std::size_t kMaxFieldTextBytes = 4096;
constexpr std::array<const char*, 5> kPhases = {
    "loading", "filling", "training", "evaluating", "saving"};
constexpr double kMostEpochs = 1e9;
constexpr double kLongestRemaining = 100.0 * 365 * 86'400;

absl::Status ReadMessage(const json& text, const char* key,
                         google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.case_insensitive_enum_parsing = true;
  const auto read = google::protobuf::util::JsonStringToMessage(
      PrintJsonText(text), message, options);
  if (!read.ok()) {
    return BadField(
        key, proto::CleanText(std::string(read.message()), kMaxFieldTextBytes));
  }
  const absl::Status served = proto::CheckServed(*message);
  if (!served.ok()) return BadField(key, ": " + std::string(served.message()));
  return absl::OkStatus();
}

bool IsPhase(const std::string& text) {
  return std::find(kPhases.begin(), kPhases.end(), text) != kPhases.end();
}

absl::StatusOr<double> EpochAt(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0.0;
  const auto number = NumberOf(*found);
  // What is not a number is in no range.
  if (number.has_value() && *number >= 0.0 && *number <= kMostEpochs) {
    return *number;
  }
  return BadField(key, "is no number from 0 to 1e9");
}

// A speed of 0, or none, makes it infinite, or nothing.
absl::StatusOr<std::optional<double>> RemainingAt(const json& object,
                                                  const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  const auto number = NumberOf(*found);
  if (!number.has_value() || *number < 0.0) {
    return BadField(key, "is no number from 0 up");
  }
  if (!std::isfinite(*number)) return std::nullopt;
  return std::min(*number, kLongestRemaining);
}

}  // namespace

absl::Status BadField(const std::string& field, const std::string& cause) {
  return MakeError(ErrorId::kTrainerProtocol, absl::StrCat(field, " ", cause),
                   "see docs/reference/trainer-protocol.md", field);
}

absl::Status CheckKeys(const json& object,
                       std::initializer_list<const char*> known) {
  for (const auto& [key, value] : object.items()) {
    const bool is_known =
        key == "type" ||
        std::any_of(known.begin(), known.end(),
                    [&key](const char* k) { return key == k; });
    if (!is_known) return BadField(key, "is no field of this message");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TextAt(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::string();
  if (!found->is_string()) return BadField(key, "is no string");
  return found->get<std::string>();
}

absl::StatusOr<std::int64_t> CountAt(const json& object, const char* key,
                                     std::int64_t fallback) {
  const auto found = object.find(key);
  if (found == object.end()) {
    if (fallback < 0) return BadField(key, "is missing");
    return fallback;
  }
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const bool counts = found->is_number_unsigned() &&
                      found->get<std::uint64_t>() <= std::uint64_t{kMost};
  if (!counts) return BadField(key, "is no whole number from 0 up");
  return found->get<std::int64_t>();
}

absl::StatusOr<Metrics> MetricsAt(const json& object, std::size_t most) {
  Metrics metrics;
  const auto found = object.find("metrics");
  if (found == object.end()) return metrics;
  if (!found->is_object()) return BadField("metrics", "is no object");
  if (found->size() > most) {
    return BadField("metrics",
                    absl::StrCat("has more than ", most, " entries"));
  }
  for (const auto& [name, value] : found->items()) {
    const std::string field =
        absl::StrCat("metrics.", proto::CleanText(name, kMaxShownFieldBytes));
    if (name.empty() || name.size() > kMaxNameBytes) {
      return BadField(field, "has a name of 0 or more than 256 bytes");
    }
    const auto number = NumberOf(value);
    if (!number.has_value()) return BadField(field, "is no number");
    metrics[name] = *number;
  }
  return metrics;
}

absl::StatusOr<std::optional<ProgressMessage>> ProgressAt(const json& object) {
  bool is_said = false;
  for (const char* key : {"phase", "epoch", "total_epochs", "remaining_s"}) {
    is_said = is_said || object.contains(key);
  }
  if (!is_said) return std::nullopt;
  ProgressMessage progress;
  ASSIGN_OR_RETURN(progress.phase, TextAt(object, "phase"));
  if (object.contains("phase") && !IsPhase(progress.phase)) {
    return BadField(
        "phase", "is none of loading, filling, training, evaluating, saving");
  }
  ASSIGN_OR_RETURN(progress.epoch, EpochAt(object, "epoch"));
  ASSIGN_OR_RETURN(progress.total_epochs, EpochAt(object, "total_epochs"));
  ASSIGN_OR_RETURN(progress.remaining_s, RemainingAt(object, "remaining_s"));
  return progress;
}

absl::StatusOr<bool> MessageAt(const json& object, const char* key,
                               google::protobuf::Message* message) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  RETURN_IF_ERROR(ReadMessage(*found, key, message));
  return true;
}

absl::StatusOr<bool> ListAt(const json& object, const char* key,
                            google::protobuf::Message* message) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  if (!found->is_array()) return BadField(key, "is no list");
  json alone = json::object();
  alone[key] = *found;
  RETURN_IF_ERROR(ReadMessage(alone, key, message));
  return true;
}

// Trainer to agent.

namespace {

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

// Agent to trainer.

namespace {

std::string Line(const json& message) { return PrintJsonText(message) + "\n"; }

json ResumeJson(const v1::Checkpoint& checkpoint, const std::string& path) {
  // The trainer's own name for it.
  const auto id = ParseCheckpointId(checkpoint.id());
  json resume = {{"id", id.has_value() ? id->name : checkpoint.id()},
                 {"step", checkpoint.step()}};
  if (!checkpoint.sha256().empty()) resume["sha256"] = checkpoint.sha256();
  if (!path.empty()) resume["path"] = path;
  return resume;
}

}  // namespace

std::string TrialLine(const v1::Lease& lease, const std::string& folder,
                      const std::string& checkpoint_path,
                      const std::vector<std::string>& takes) {
  const v1::TrialSpec& spec = lease.spec();
  json message = {{"type", "trial"},
                  {"protocol", kProtocolVersion},
                  {"trial", lease.trial()},
                  {"attempt", lease.attempt()},
                  {"seed", spec.seed()},
                  {"prefix_depth", spec.prefix_depth()},
                  {"parameters", json::object()},
                  {"rates", json::object()},
                  {"objectives", json::array()},
                  {"model", ToJson(spec.model())},
                  {"data", ToJson(spec.data())},
                  {"training", ToJson(spec.training())},
                  {"freeze", ToJson(spec.freeze())},
                  {"labels", json::object()},
                  {"takes", json::array({"precision", "progress"})},
                  {"folder", folder},
                  {"resume_from", nullptr}};
  if (!spec.auto_precision().empty()) {
    message["auto_precision"] = spec.auto_precision();
  }
  for (const auto& parameter : spec.parameters()) {
    message["parameters"][parameter.name()] = ToJson(parameter.value());
  }
  for (const auto& rate : spec.rates()) {
    message["rates"][rate.module()] = rate.rate();
  }
  for (const auto& objective : spec.objectives()) {
    message["objectives"].push_back(ToJson(objective));
  }
  for (const auto& task : spec.tasks()) {
    message["tasks"].push_back(ToJson(task));
  }
  for (const auto& [key, value] : spec.labels()) message["labels"][key] = value;
  if (lease.has_resume_from()) {
    message["resume_from"] = ResumeJson(lease.resume_from(), checkpoint_path);
  }
  for (const std::string& each : takes) message["takes"].push_back(each);
  return Line(message);
}

std::string StopLine(const std::string& reason) {
  return Line({{"type", "stop"}, {"reason", reason}});
}

std::string ExitLine() { return Line({{"type", "exit"}}); }

}  // namespace frostline::agent
