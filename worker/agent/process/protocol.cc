// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/protocol.h"

#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/json.h"
#include "base/plain/text.h"
#include "proto/rules.h"
#include "proto/served.h"
#include "proto/wire_error.h"

namespace frostline::agent {
namespace {

constexpr std::size_t kMaxDepth = 8;

// The members of a message. If a name is there twice, the last one counts.
using Members = std::map<std::string_view, const JsonValue*>;

Members MembersOf(const JsonValue& object) {
  Members members;
  for (const JsonValue* at = object.first; at != nullptr; at = at->next) {
    members[at->key] = at;
  }
  return members;
}

const JsonValue* Find(const Members& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : found->second;
}

// Python's json.dumps prints bare NaN, Infinity and -Infinity. They are read
// like the same words in quotes: as a number if one is expected, else as a
// text.
bool IsWord(const JsonValue& value) {
  return value.is(JsonKind::kString) ||
         (value.is(JsonKind::kNumber) &&
          !absl::ascii_isdigit(static_cast<unsigned char>(value.text.back())));
}

std::optional<double> NumberOf(const JsonValue& value) {
  using Limits = std::numeric_limits<double>;
  if (IsWord(value)) {
    if (value.text == "NaN") return Limits::quiet_NaN();
    if (value.text == "Infinity") return Limits::infinity();
    if (value.text == "-Infinity") return -Limits::infinity();
  } else if (value.is(JsonKind::kNumber) && std::isfinite(value.number)) {
    return value.number;
  }
  return std::nullopt;
}

// Prints a value for Protobuf, which knows those three only in quotes.
std::string Reprinted(const JsonValue& value) {
  if (IsWord(value)) return JsonString(value.text);
  if (value.is(JsonKind::kObject)) {
    JsonObject object;
    for (const auto& [key, member] : MembersOf(value)) {
      object.Put(key, Reprinted(*member));
    }
    return object.Text();
  }
  if (!value.is(JsonKind::kArray)) return JsonText(value);
  std::vector<std::string> items;
  for (const JsonValue* at = value.first; at != nullptr; at = at->next) {
    items.push_back(Reprinted(*at));
  }
  return JsonList(items);
}

// The functions below print messages of the contract as JSON for trainers. It
// differs from Protobuf's own mapping: 64-bit numbers are numbers, an enum is
// its short lower-case name ("hard", "maximize"), unset fields are absent, and
// names are sorted by their bytes.

// A path may have bytes that are not UTF-8: they become U+FFFD.
std::string QuotedClean(const std::string& text) {
  return JsonString(RepairUtf8(text));
}

// Keeps 2.0 a decimal number, as Python would read 2 as a whole number.
std::string NumberJson(double number) {
  if (!std::isfinite(number)) return "null";
  const double size = std::abs(number);
  const bool is_long = size != 0.0 && (size < 1e-4 || size >= 1e15);
  std::array<char, 32> digits = {};
  const auto end = std::to_chars(
      digits.data(), digits.data() + digits.size(), number,
      is_long ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(digits.data(), end.ptr);
  const bool is_whole = text.find_first_of(".e") == std::string::npos;
  return is_whole ? text + ".0" : text;
}

using NamedJson = std::map<std::string, std::string>;

std::string ObjectJson(const NamedJson& members) {
  JsonObject object;
  for (const auto& [name, value] : members) object.Put(RepairUtf8(name), value);
  return object.Text();
}

std::string ToJson(const google::protobuf::Message& message);

using google::protobuf::Descriptor;
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

// Returns the JSON of a field; with `i` below 0 the field is not repeated.
std::string FieldJson(const Message& message, const FieldDescriptor* field,
                      int i) {
  const Reflection& look = *message.GetReflection();
#define FROSTLINE_GET_(Type)              \
  (i < 0 ? look.Get##Type(message, field) \
         : look.GetRepeated##Type(message, field, i))
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(FROSTLINE_GET_(Int32));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(FROSTLINE_GET_(Int64));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(FROSTLINE_GET_(UInt32));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(FROSTLINE_GET_(UInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return NumberJson(FROSTLINE_GET_(Double));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return NumberJson(FROSTLINE_GET_(Float));
    case FieldDescriptor::CPPTYPE_BOOL:
      return FROSTLINE_GET_(Bool) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_STRING:
      return QuotedClean(FROSTLINE_GET_(String));
    case FieldDescriptor::CPPTYPE_ENUM:
      return QuotedClean(ShortName(FROSTLINE_GET_(Enum)));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(FROSTLINE_GET_(Message));
  }
#undef FROSTLINE_GET_
  return "null";
}

std::string MapJson(const Message& message, const FieldDescriptor* field) {
  NamedJson object;
  const Reflection& look = *message.GetReflection();
  const FieldDescriptor* const key = field->message_type()->map_key();
  const FieldDescriptor* const value = field->message_type()->map_value();
  for (int i = 0; i < look.FieldSize(message, field); ++i) {
    const Message& entry = look.GetRepeatedMessage(message, field, i);
    // Every map of the contract is keyed by a string.
    object[entry.GetReflection()->GetString(entry, key)] =
        FieldJson(entry, value, -1);
  }
  return ObjectJson(object);
}

std::string ListJson(const Message& message, const FieldDescriptor* field) {
  std::vector<std::string> list;
  const int size = message.GetReflection()->FieldSize(message, field);
  list.reserve(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) list.push_back(FieldJson(message, field, i));
  return JsonList(list);
}

std::string FieldsJson(const Message& message) {
  NamedJson object;
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    object[field->name()] = field->is_map() ? MapJson(message, field)
                            : field->is_repeated()
                                ? ListJson(message, field)
                                : FieldJson(message, field, -1);
  }
  return ObjectJson(object);
}

// A Struct, a list or a value of any kind is printed as what it holds, not as
// its fields.
std::string ToJson(const Message& message) {
  using google::protobuf::ListValue;
  using google::protobuf::Struct;
  using google::protobuf::Value;
  const Descriptor* const type = message.GetDescriptor();
  if (type == Struct::descriptor()) return MapJson(message, type->field(0));
  if (type == ListValue::descriptor()) return ListJson(message, type->field(0));
  if (type != Value::descriptor()) return FieldsJson(message);
  const FieldDescriptor* const held =
      message.GetReflection()->GetOneofFieldDescriptor(message,
                                                       type->oneof_decl(0));
  const bool is_null = held == nullptr || held->name() == "null_value";
  return is_null ? "null" : FieldJson(message, held, -1);
}

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

// Trainer to agent. Every error is a TRAINER_PROTOCOL that names the field.

namespace {

constexpr std::size_t kMaxShownFieldBytes = 160;
constexpr std::size_t kMaxFieldTextBytes = 4096;
constexpr std::array<const char*, 5> kPhases = {
    "loading", "filling", "training", "evaluating", "saving"};
constexpr double kLongestRemaining = 100.0 * 365 * 86'400;

absl::Status BadField(const std::string& field, const std::string& cause) {
  return MakeError(ErrorId::kTrainerProtocol, absl::StrCat(field, " ", cause),
                   "see docs/reference/trainer-protocol.md", field);
}

// Fills `message` from JSON that stood at `key`.
absl::Status ReadMessage(const std::string& json, const char* key,
                         google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.case_insensitive_enum_parsing = true;
  const auto read =
      google::protobuf::util::JsonStringToMessage(json, message, options);
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

absl::StatusOr<double> EpochAt(const Members& object, const char* key) {
  const JsonValue* const found = Find(object, key);
  if (found == nullptr) return 0.0;
  const auto number = NumberOf(*found);
  static const double most =
      proto::RuleOf(*v1::TrialProgress::descriptor(), "epoch").most();
  // NaN is in no range.
  if (number.has_value() && *number >= 0.0 && *number <= most) {
    return *number;
  }
  return BadField(key, "is no number from 0 to 1e9");
}

// A trainer that divides by a speed of 0 may send infinity, or nothing.
absl::StatusOr<std::optional<double>> RemainingAt(const Members& object,
                                                  const char* key) {
  const JsonValue* const found = Find(object, key);
  if (found == nullptr || found->is(JsonKind::kNull)) return std::nullopt;
  const auto number = NumberOf(*found);
  if (!number.has_value() || *number < 0.0) {
    return BadField(key, "is no number from 0 up");
  }
  if (!std::isfinite(*number)) return std::nullopt;
  return std::min(*number, kLongestRemaining);
}

// Allows no keys but these and "type".
absl::Status CheckKeys(const Members& object,
                       std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object) {
    const bool is_known = key == "type" || std::find(known.begin(), known.end(),
                                                     key) != known.end();
    if (!is_known) {
      return BadField(std::string(key), "is no field of this message");
    }
  }
  return absl::OkStatus();
}

// Returns "" if it is absent.
absl::StatusOr<std::string> TextAt(const Members& object, const char* key) {
  const JsonValue* const found = Find(object, key);
  if (found == nullptr) return std::string();
  if (!IsWord(*found)) return BadField(key, "is no string");
  return std::string(found->text);
}

// Reads a whole number from 0; `fallback` below 0 makes it required.
absl::StatusOr<std::int64_t> CountAt(const Members& object, const char* key,
                                     std::int64_t fallback) {
  const JsonValue* const found = Find(object, key);
  if (found == nullptr) {
    if (fallback < 0) return BadField(key, "is missing");
    return fallback;
  }
  std::int64_t count = 0;
  const bool counts = found->is(JsonKind::kNumber) &&
                      ReadNumber(std::string(found->text), 0, &count);
  if (!counts) return BadField(key, "is no whole number from 0 up");
  return count;
}

// Reads "metrics", empty when absent, as many as a message of the contract has.
template <typename Message>
absl::StatusOr<Metrics> MetricsAt(const Members& object) {
  static const auto most =
      static_cast<std::size_t>(proto::MaxItems<Message>("metrics"));
  static const std::size_t name_bytes = proto::MaxBytes<Message>("metrics");
  Metrics metrics;
  const JsonValue* const found = Find(object, "metrics");
  if (found == nullptr) return metrics;
  if (!found->is(JsonKind::kObject)) {
    return BadField("metrics", "is no object");
  }
  const Members members = MembersOf(*found);
  if (members.size() > most) {
    return BadField("metrics",
                    absl::StrCat("has more than ", most, " entries"));
  }
  for (const auto& [key, value] : members) {
    const std::string name(key);
    const std::string field =
        absl::StrCat("metrics.", proto::CleanText(name, kMaxShownFieldBytes));
    if (name.empty() || name.size() > name_bytes) {
      return BadField(field, "has a name of 0 or more than 256 bytes");
    }
    const auto number = NumberOf(*value);
    if (!number.has_value()) return BadField(field, "is no number");
    metrics[name] = *number;
  }
  return metrics;
}

// Reads the progress; nothing if none of its fields is there.
absl::StatusOr<std::optional<ProgressMessage>> ProgressAt(
    const Members& object) {
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

// Fills `message` from the object at `key`. Returns false if that is absent.
absl::StatusOr<bool> MessageAt(const Members& object, const char* key,
                               google::protobuf::Message* message) {
  const JsonValue* const found = Find(object, key);
  if (found == nullptr) return false;
  RETURN_IF_ERROR(ReadMessage(Reprinted(*found), key, message));
  return true;
}

// Fills the field `key` of `message` alone, a list of messages.
absl::StatusOr<bool> ListAt(const Members& object, const char* key,
                            google::protobuf::Message* message) {
  const JsonValue* const found = Find(object, key);
  if (found == nullptr) return false;
  if (!found->is(JsonKind::kArray)) return BadField(key, "is no list");
  const JsonObject alone = JsonObject().Put(key, Reprinted(*found));
  RETURN_IF_ERROR(ReadMessage(alone.Text(), key, message));
  return true;
}

constexpr std::size_t kMaxShownLineBytes = 160;
constexpr char kUnfit[] = "unfit";
constexpr std::array<const char*, 4> kPrecisions = {"fp32", "tf32", "bf16",
                                                    "fp16"};

absl::StatusOr<TrainerMessage> ParseHello(const Members& object) {
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

absl::StatusOr<std::vector<std::string>> PrecisionsAt(const Members& object) {
  std::vector<std::string> precisions;
  const JsonValue* const found = Find(object, "precisions");
  if (found == nullptr || found->is(JsonKind::kNull)) return precisions;
  const auto bad = [] {
    return BadField("precisions", "is no list of fp32, tf32, bf16, fp16");
  };
  if (!found->is(JsonKind::kArray)) return bad();
  for (const JsonValue* at = found->first; at != nullptr; at = at->next) {
    precisions.emplace_back(at->text);
    if (!at->is(JsonKind::kString) || !IsPrecision(precisions.back())) {
      return bad();
    }
  }
  return precisions;
}

absl::StatusOr<TrainerMessage> ParseReport(const Members& object) {
  RETURN_IF_ERROR(CheckKeys(
      object, {"step", "total_steps", "metrics", "precision", "precisions",
               "phase", "epoch", "total_epochs", "remaining_s"}));
  ReportMessage report;
  ASSIGN_OR_RETURN(report.step, CountAt(object, "step", -1));
  ASSIGN_OR_RETURN(report.total_steps, CountAt(object, "total_steps", 0));
  ASSIGN_OR_RETURN(report.metrics, MetricsAt<v1::Measurement>(object));
  ASSIGN_OR_RETURN(report.precision, TextAt(object, "precision"));
  if (!report.precision.empty() && !IsPrecision(report.precision)) {
    return BadField("precision", "is none of fp32, tf32, bf16, fp16");
  }
  ASSIGN_OR_RETURN(report.precisions, PrecisionsAt(object));
  ASSIGN_OR_RETURN(report.progress, ProgressAt(object));
  return report;
}

absl::StatusOr<TrainerMessage> ParseCheckpoint(const Members& object) {
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

absl::StatusOr<FinishMessage::State> StateAt(const Members& object) {
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

absl::StatusOr<v1::FailureClass> FailureAt(const Members& object) {
  ASSIGN_OR_RETURN(const std::string failure, TextAt(object, "class"));
  if (failure.empty() || failure == "trial") return v1::FAILURE_CLASS_TRIAL;
  if (failure == "out_of_memory") return v1::FAILURE_CLASS_OUT_OF_MEMORY;
  if (failure == "infrastructure" || failure == kUnfit) {
    return v1::FAILURE_CLASS_INFRASTRUCTURE;
  }
  return BadField("class",
                  "is none of trial, out_of_memory, infrastructure, unfit");
}

absl::StatusOr<TrainerMessage> ParseFinish(const Members& object) {
  RETURN_IF_ERROR(
      CheckKeys(object, {"state", "metrics", "usage", "cause", "class",
                         "precisions", "examples", "evaluations"}));
  FinishMessage finish;
  ASSIGN_OR_RETURN(finish.state, StateAt(object));
  ASSIGN_OR_RETURN(finish.metrics, MetricsAt<v1::Outcome>(object));
  ASSIGN_OR_RETURN(finish.failure, FailureAt(object));
  ASSIGN_OR_RETURN(const std::string failure, TextAt(object, "class"));
  finish.is_unfit =
      finish.state == FinishMessage::State::kFailed && failure == kUnfit;
  ASSIGN_OR_RETURN(finish.precisions, PrecisionsAt(object));
  ASSIGN_OR_RETURN(const std::string cause, TextAt(object, "cause"));
  finish.cause = proto::CleanText(cause, proto::MaxBytes<v1::Outcome>("cause"));
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
  const int most_sets = proto::MaxItems<v1::Outcome>("evaluations");
  if (outcome.evaluations_size() > most_sets) {
    return BadField("evaluations",
                    absl::StrCat("has more than ", most_sets, " sets"));
  }
  const std::size_t most = proto::MaxBytes<v1::Outcome>("evaluations");
  if (outcome.ByteSizeLong() > most) {
    return BadField("evaluations",
                    absl::StrCat("takes more than ", most >> 10U, " KiB"));
  }
  finish.evaluations.assign(outcome.evaluations().begin(),
                            outcome.evaluations().end());
  return finish;
}

absl::StatusOr<TrainerMessage> ParseLog(const Members& object) {
  RETURN_IF_ERROR(CheckKeys(object, {"text"}));
  ASSIGN_OR_RETURN(std::string text, TextAt(object, "text"));
  return LogMessage{std::move(text), true};
}

absl::StatusOr<TrainerMessage> ParseMessage(const std::string& line) {
  if (line.size() > kMaxLineBytes) return BadField("line", "is over 1 MiB");
  const Expected<Json> json = Json::Parse(line, {.max_depth = kMaxDepth,
                                                 .numbers = JsonNumbers::kAny,
                                                 .repeats_keys = true});
  if (!json.ok()) return BadField("line", "is no JSON object in UTF-8");
  const Members object = MembersOf(json.value().root());
  ASSIGN_OR_RETURN(const std::string type, TextAt(object, "type"));
  if (type == "hello") return ParseHello(object);
  if (type == "report") return ParseReport(object);
  if (type == "checkpoint") return ParseCheckpoint(object);
  if (type == "finish") return ParseFinish(object);
  if (type == "log") return ParseLog(object);
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

std::string ResumeJson(const v1::Checkpoint& checkpoint,
                       const std::string& path) {
  // The trainer's own name for it.
  const auto id = ParseCheckpointId(checkpoint.id());
  NamedJson resume = {{"id", QuotedClean(id ? id->name : checkpoint.id())},
                      {"step", absl::StrCat(checkpoint.step())}};
  if (!checkpoint.sha256().empty()) {
    resume["sha256"] = QuotedClean(checkpoint.sha256());
  }
  if (!path.empty()) resume["path"] = QuotedClean(path);
  return ObjectJson(resume);
}

std::string Line(const NamedJson& message) {
  return ObjectJson(message) + "\n";
}

template <typename Messages>
std::string EachJson(const Messages& messages) {
  std::vector<std::string> list;
  for (const auto& message : messages) list.push_back(ToJson(message));
  return JsonList(list);
}

}  // namespace

std::string TrialLine(const v1::Lease& lease, const std::string& folder,
                      const std::string& checkpoint_path,
                      const std::vector<std::string>& takes) {
  const v1::TrialSpec& spec = lease.spec();
  NamedJson parameters;
  for (const auto& parameter : spec.parameters()) {
    parameters[parameter.name()] = ToJson(parameter.value());
  }
  NamedJson rates;
  NamedJson ranks;  // of the modules of which an adapter may train
  for (const auto& rate : spec.rates()) {
    rates[rate.module()] = NumberJson(rate.rate());
    if (rate.has_rank()) ranks[rate.module()] = absl::StrCat(rate.rank());
  }
  NamedJson labels;
  for (const auto& [key, value] : spec.labels())
    labels[key] = QuotedClean(value);
  std::vector<std::string> all_takes = {QuotedClean("precision"),
                                        QuotedClean("progress")};
  for (const std::string& each : takes) all_takes.push_back(QuotedClean(each));
  NamedJson message = {
      {"type", QuotedClean("trial")},
      {"protocol", absl::StrCat(kProtocolVersion)},
      {"trial", QuotedClean(lease.trial())},
      {"attempt", absl::StrCat(lease.attempt())},
      {"seed", absl::StrCat(spec.seed())},
      {"prefix_depth", absl::StrCat(spec.prefix_depth())},
      {"parameters", ObjectJson(parameters)},
      {"rates", ObjectJson(rates)},
      {"objectives", EachJson(spec.objectives())},
      {"model", ToJson(spec.model())},
      {"data", ToJson(spec.data())},
      {"training", ToJson(spec.training())},
      {"freeze", ToJson(spec.freeze())},
      {"labels", ObjectJson(labels)},
      {"takes", JsonList(all_takes)},
      {"folder", QuotedClean(folder)},
      {"resume_from", lease.has_resume_from()
                          ? ResumeJson(lease.resume_from(), checkpoint_path)
                          : "null"}};
  if (!spec.auto_precision().empty()) {
    message["auto_precision"] = QuotedClean(spec.auto_precision());
  }
  if (!ranks.empty()) message["ranks"] = ObjectJson(ranks);
  if (!spec.tasks().empty()) message["tasks"] = EachJson(spec.tasks());
  return Line(message);
}

std::string StopLine(const std::string& reason) {
  return Line({{"type", QuotedClean("stop")}, {"reason", QuotedClean(reason)}});
}

std::string ExitLine() { return Line({{"type", QuotedClean("exit")}}); }

}  // namespace frostline::agent
