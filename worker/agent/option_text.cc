// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/option_text.h"

#include <cmath>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "worker/agent/trainer_choice.h"

namespace frostline {
namespace {

constexpr std::size_t kMaxLabels = 64;
constexpr double kMaxBytes = 1e18;
constexpr char kUnits[] = "KMGT";

absl::Status ReadSlots(const std::string& text, AgentOptions* options) {
  options->slot_per_gpu = text == "gpu";
  if (options->slot_per_gpu) return absl::OkStatus();
  if (absl::SimpleAtoi(text, &options->slots) && options->slots >= 1 &&
      options->slots <= kMaxSlots) {
    return absl::OkStatus();
  }
  return BadOption(
      "--slots", absl::StrCat("is '", text, "'"),
      absl::StrCat("give a number from 1 to ", kMaxSlots, ", or gpu"));
}

absl::Status ReadLabels(const std::vector<std::string>& labels,
                        AgentOptions* options) {
  for (const std::string& label : labels) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      return BadOption("--label", absl::StrCat("is '", label, "'"),
                       "write it as KEY=VALUE");
    }
    options->labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  if (options->labels.size() <= kMaxLabels) return absl::OkStatus();
  return BadOption("--label", "is given too often",
                   absl::StrCat("give at most ", kMaxLabels));
}

absl::Status ReadKeep(const RawAgentOptions& raw, AgentOptions* options) {
  const std::map<std::string, KeepPolicy> policies = {
      {"all", KeepPolicy::kAll},
      {"useful", KeepPolicy::kUseful},
      {"failed", KeepPolicy::kFailed},
      {"none", KeepPolicy::kNone}};
  const auto policy = policies.find(raw.keep);
  if (policy == policies.end()) {
    return BadOption("--keep", absl::StrCat("is '", raw.keep, "'"),
                     "give all, useful, failed or none");
  }
  options->keep.policy = policy->second;
  ASSIGN_OR_RETURN(options->keep.most_bytes,
                   ReadBytesOption("--keep-bytes", raw.keep_bytes));
  return absl::OkStatus();
}

Duration Seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

absl::Status BadOption(const std::string& option, const std::string& cause,
                       const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat(option, " ", cause),
                   fix, option);
}

absl::StatusOr<Duration> ReadTimeOption(const std::string& option,
                                        const std::string& text) {
  if (text == "off") return Duration::zero();
  absl::Duration time;
  double seconds = 0.0;
  const bool read = absl::SimpleAtod(text, &seconds)
                        ? (time = absl::Seconds(seconds), true)
                        : absl::ParseDuration(text, &time);
  if (read && time > absl::ZeroDuration() && time <= absl::Hours(24 * 365)) {
    return absl::ToChronoNanoseconds(time);
  }
  return BadOption(option, absl::StrCat("is '", text, "', which is no time"),
                   "write it like 90s, 10m or 1h30m, or off");
}

absl::StatusOr<std::int64_t> ReadBytesOption(const std::string& option,
                                             const std::string& text) {
  std::string number = text;
  double unit = 1.0;
  if (!text.empty()) {
    const std::string units = kUnits;
    const std::size_t power = units.find(
        absl::ascii_toupper(static_cast<unsigned char>(text.back())));
    if (power != std::string::npos) {
      unit = std::pow(1024.0, static_cast<double>(power + 1));
      number.pop_back();
    }
  }
  double count = 0.0;
  if (absl::SimpleAtod(number, &count) && count >= 0.0 &&
      count * unit <= kMaxBytes) {
    return static_cast<std::int64_t>(count * unit);
  }
  return BadOption(option, absl::StrCat("is '", text, "', which is no size"),
                   "write it like 500M or 50G; 0: no bound");
}

absl::Status ReadOptions(const RawAgentOptions& raw, AgentOptions* options) {
  RETURN_IF_ERROR(ReadSlots(raw.slots, options));
  RETURN_IF_ERROR(ReadLabels(raw.labels, options));
  RETURN_IF_ERROR(ChooseTrainer(FolderOfThisProgram(), options));
  RETURN_IF_ERROR(ReadKeep(raw, options));
  ASSIGN_OR_RETURN(options->hang_after,
                   ReadTimeOption("--hang-after", raw.hang_after));
  ASSIGN_OR_RETURN(options->orphan_limit,
                   ReadTimeOption("--orphan-limit", raw.orphan_limit));
  options->idle_timeout = Seconds(raw.idle_timeout_s);
  options->stop_grace = Seconds(raw.stop_grace_s);
  return absl::OkStatus();
}

}  // namespace frostline
