// SPDX-License-Identifier: Apache-2.0
#include "server/wire/auto_precision.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::server {
namespace {

// A trainer of the user's own may report anything else, which decides nothing.
constexpr std::array<std::string_view, 4> kKnown = {"fp32", "tf32", "bf16",
                                                    "fp16"};

bool IsKnown(const std::string& precision) {
  return std::find(kKnown.begin(), kKnown.end(), precision) != kKnown.end();
}

bool IsOpenPrecision(const v1::StudySpec& spec) {
  const std::string& precision = spec.training().precision();
  return precision.empty() || precision == "auto";
}

}  // namespace

std::string DecidedPrecision(const CheckedStudy& study) {
  return IsOpenPrecision(study.spec) ? study.settings.auto_precision() : "";
}

bool DecidesPrecision(const CheckedStudy& study, const std::string& precision) {
  return IsOpenPrecision(study.spec) &&
         study.settings.auto_precision().empty() && IsKnown(precision);
}

absl::Status CheckAutoPrecision(const v1::StudySettings& settings) {
  const std::string& precision = settings.auto_precision();
  if (precision.empty() || IsKnown(precision)) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("auto_precision is ", precision),
                   "leave it out: the first trial decides; or give fp32, bf16 "
                   "or fp16",
                   "auto_precision");
}

}  // namespace frostline::server
