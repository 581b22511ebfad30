// SPDX-License-Identifier: Apache-2.0
//
// How fast the trainer multiplies, and on which GPUs.
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/plain/json.h"
#include "cli/doctor/check.h"

namespace frostline::cli::doctor {
namespace {

constexpr double kSlowShare = 0.5;  // of what the processor should reach

std::string SpeedTextOf(const JsonValue& root, const char* name) {
  const JsonValue* const value = root.Find(name);
  return value == nullptr ? "" : std::string(value->text);
}

double NumberOf(const JsonValue& root, const char* name) {
  const JsonValue* const value = root.Find(name);
  return value == nullptr ? 0.0 : value->number;
}

Finding JudgeSpeed(const JsonValue& root) {
  constexpr char kAgain[] =
      "run `frostline-trainer --self-check` when the machine is idle; "
      "docs/reference/trainer.md says what slows it";
  const JsonValue* const ok = root.Find("ok");
  if (ok == nullptr || !ok->truth) {
    return {CheckStatus::kCritical,
            "LibTorch multiplies wrongly here: " + SpeedTextOf(root, "error"),
            "run `frostline-trainer --self-check`; where it fails again, "
            "install the packages anew"};
  }
  const double fast = NumberOf(root, "fp32_gflops");
  const double hoped = NumberOf(root, "expected_gflops");
  const std::string detail = absl::StrCat(
      "LibTorch ", SpeedTextOf(root, "torch"), " on ",
      SpeedTextOf(root, "device"), ", ", SpeedTextOf(root, "blas"), ", ",
      SpeedTextOf(root, "simd"), ": ", fast, " GFLOP/s in fp32",
      hoped > 0 ? absl::StrCat(" of about ", hoped) : std::string());
  if (fast < kSlowShare * hoped) return {CheckStatus::kWarn, detail, kAgain};
  return {CheckStatus::kOk, detail};
}

}  // namespace

Finding CheckSpeed(const Patient& patient) {
  const auto& ran = patient.facts.self_check;
  if (absl::IsDeadlineExceeded(ran.status())) {
    return {CheckStatus::kSkipped,
            "frostline-trainer --self-check took longer than the doctor waits",
            "run `frostline-trainer --self-check` by itself"};
  }
  if (!ran.ok()) {
    return {CheckStatus::kSkipped,
            "there is no frostline-trainer beside this program",
            "on a node that trains install the trainer: "
            "docs/how-to/install.md"};
  }
  const auto json = Json::Parse(ran->out);
  if (json.ok()) return JudgeSpeed(json.value().root());
  return {CheckStatus::kCritical,
          absl::StrCat("frostline-trainer does not start: code ", ran->code,
                       " ", ran->err.substr(0, ran->err.find('\n'))),
          "run `frostline-trainer --self-check`, which says why"};
}

Finding CheckGpu(const Patient& patient) {
  const Machine& machine = patient.machine;
  const std::string driver = machine.Read("/proc/driver/nvidia/version");
  const auto& smi = patient.facts.nvidia_smi;
  if (smi.ok() && smi->code == 0 && !smi->out.empty()) {
    std::string gpus(absl::StripAsciiWhitespace(smi->out));
    absl::StrReplaceAll({{"\n", "; "}}, &gpus);
    return {CheckStatus::kOk, gpus};
  }
  if (driver.empty()) {
    return {CheckStatus::kOk, "no NVIDIA GPU; trials run on the processor"};
  }
  return {
      CheckStatus::kWarn,
      absl::StrCat("there is a driver (", driver.substr(0, driver.find('\n')),
                   "), but nvidia-smi does not answer"),
      "run `nvidia-smi`, which says why"};
}

}  // namespace frostline::cli::doctor
