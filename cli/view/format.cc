// SPDX-License-Identifier: Apache-2.0
#include "cli/view/format.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "cli/term/table.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxValueBytes = 200;
constexpr std::size_t kMaxNoteLine = 64 << 10;
constexpr std::size_t kKeyColumns = 13;
constexpr int kFewestWrapped = 15;

// Returns the name of an enum value without the enum's prefix.
std::string WithoutPrefix(const std::string& name, const std::string& prefix) {
  return name.substr(std::min(name.size(), prefix.size()));
}

double ToSeconds(const google::protobuf::Timestamp& time) {
  return static_cast<double>(time.seconds()) + time.nanos() * 1e-9;
}

}  // namespace

std::string FormatNumber(double value) {
  return absl::StrFormat("%.4g", value);
}

std::string FormatRate(double rate) {
  return rate == 0.0 ? "frozen" : absl::StrFormat("%.3g", rate);
}

namespace {

std::string TrainedText(double rate, std::optional<int> rank) {
  if (!rank.has_value()) return FormatRate(rate);
  if (*rank == 0 || rate == 0.0) return "none";
  return absl::StrCat("rank ", *rank, " at ", FormatRate(rate));
}

template <typename Message>
std::optional<int> RankOf(const Message& message) {
  return message.has_rank() ? std::optional<int>(message.rank()) : std::nullopt;
}

}  // namespace

std::string FormatLevel(const std::string& parameter, double level) {
  const bool is_rank =
      parameter == "rank" || absl::StartsWith(parameter, "rank.");
  return is_rank && level == 0.0 ? "none" : FormatRate(level);
}

std::string FormatTrained(const v1::ModuleRate& module) {
  return TrainedText(module.rate(), RankOf(module));
}

std::string FormatTrained(const v1::PlannedModule& module) {
  return TrainedText(module.freeze() ? 0.0 : module.rate(), RankOf(module));
}

std::string FormatCount(std::int64_t count) {
  std::string text = absl::StrCat(count);
  const std::size_t sign = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > sign + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string CountOrDash(double count) {
  return std::isnan(count) ? "-" : FormatCount(std::llround(count));
}

std::string FormatBytes(std::int64_t bytes) {
  constexpr double kRoundsUp = 1023.95;  // four digits show it as 1024
  auto number = static_cast<double>(bytes);
  const char* unit = " B";
  for (const char* const next : {" KiB", " MiB", " GiB", " TiB", " PiB"}) {
    if (number < kRoundsUp) break;
    number /= 1024;
    unit = next;
  }
  return absl::StrCat(FormatNumber(number), unit);
}

std::string FormatFlops(double flops) {
  constexpr double kRoundsUp = 999.5;
  const char* unit = " FLOP";
  for (const char* const next :
       {" kFLOP", " MFLOP", " GFLOP", " TFLOP", " PFLOP", " EFLOP"}) {
    if (flops < kRoundsUp) break;
    flops /= 1e3;
    unit = next;
  }
  return absl::StrFormat("%.3g%s", flops, unit);
}

std::string FormatSeconds(double seconds) {
  if (std::isnan(seconds)) return "-";
  if (seconds < 0) return "";
  if (seconds < 9.95) return absl::StrFormat("%.1f s", seconds);
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  if (whole < 60) return absl::StrCat(whole, " s");
  if (whole < 3600) return absl::StrFormat("%dm%02ds", whole / 60, whole % 60);
  return absl::StrFormat("%dh%02dm", whole / 3600, whole / 60 % 60);
}

std::string FormatTime(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0) return "";
  const std::string text = FormatWall(time.seconds() * 1'000'000);
  return absl::StrReplaceAll(text, {{"T", " "}, {".000000", ""}});
}

std::string FormatValue(const google::protobuf::Value& value) {
  if (value.kind_case() == google::protobuf::Value::kNumberValue) {
    return FormatNumber(value.number_value());
  }
  if (value.kind_case() == google::protobuf::Value::kStringValue) {
    return proto::CleanText(value.string_value(), kMaxValueBytes);
  }
  std::string json;
  // This cannot fail for a Value; if it does, the cell is empty.
  (void)google::protobuf::util::MessageToJsonString(value, &json);
  return proto::CleanText(json, kMaxValueBytes);
}

std::string FormatLabels(
    const google::protobuf::Map<std::string, std::string>& labels) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : labels) {
    parts.push_back(absl::StrCat(key, "=", value));
  }
  std::sort(parts.begin(), parts.end());
  return absl::StrJoin(parts, ", ");
}

std::string NameOf(v1::StudyState state) {
  return WithoutPrefix(v1::StudyState_Name(state), "STUDY_STATE_");
}
std::string NameOf(v1::TrialState state) {
  return WithoutPrefix(v1::TrialState_Name(state), "TRIAL_STATE_");
}
std::string NameOf(v1::AttemptState state) {
  return WithoutPrefix(v1::AttemptState_Name(state), "ATTEMPT_STATE_");
}
std::string NameOf(v1::WorkerState state) {
  return WithoutPrefix(v1::WorkerState_Name(state), "WORKER_STATE_");
}

bool IsEnded(v1::StudyState state) {
  return state == v1::STUDY_STATE_STOPPED ||
         state == v1::STUDY_STATE_COMPLETED || state == v1::STUDY_STATE_DELETED;
}

bool IsEnded(v1::TrialState state) {
  return state >= v1::TRIAL_STATE_SUCCEEDED;
}

std::string LastPart(const std::string& name) {
  return name.substr(name.rfind('/') + 1);  // npos + 1 is 0
}

double SecondsOf(const v1::Trial& trial) {
  const bool waits = trial.state() == v1::TRIAL_STATE_QUEUED;  // perhaps again
  if (!trial.has_start_time() || waits) return -1.0;
  const double end = trial.has_end_time()
                         ? ToSeconds(trial.end_time())
                         : static_cast<double>(SystemClock().Wall()) * 1e-6;
  return std::max(0.0, end - ToSeconds(trial.start_time()));
}

std::string KeyLine(const std::string& key, const std::string& value) {
  if (value.empty()) return "";
  std::string padded = key.empty() ? "" : key + ":";
  padded.resize(std::max(padded.size() + 1, kKeyColumns), ' ');
  return absl::StrCat(padded, proto::CleanText(value, proto::kMaxCauseBytes),
                      "\n");
}

std::string WrapKeyLines(const std::string& text, int width) {
  const int room = width - static_cast<int>(kKeyColumns);
  if (room < kFewestWrapped) return text;
  const std::string indent(kKeyColumns, ' ');
  std::string wrapped;
  for (const absl::string_view piece :
       absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::string line(piece);
    const bool has_key =
        line.size() > kKeyColumns && line[kKeyColumns - 1] == ' ';
    if (!has_key) {
      wrapped += WrapText(line, width);
      continue;
    }
    std::string lead = line.substr(0, kKeyColumns);
    const std::string value = WrapText(line.substr(kKeyColumns), room);
    for (const absl::string_view part :
         absl::StrSplit(value, '\n', absl::SkipEmpty())) {
      absl::StrAppend(&wrapped, std::exchange(lead, indent), part, "\n");
    }
  }
  return wrapped;
}

std::string NoteText(const std::string& whose, const std::string& note,
                     bool is_new) {
  if (note.empty()) return absl::StrCat(whose, " has no note\n");
  if (is_new) return absl::StrCat(whose, " has the note\n");
  std::string text;
  for (const absl::string_view line : absl::StrSplit(note, '\n')) {
    absl::StrAppend(&text, proto::CleanText(std::string(line), kMaxNoteLine),
                    "\n");
  }
  return text;
}

std::string Counted(std::int64_t count, const std::string& one,
                    const std::string& many) {
  const std::string others = many.empty() ? one + "s" : many;
  return absl::StrCat(FormatCount(count), " ", count == 1 ? one : others);
}

}  // namespace frostline::cli
