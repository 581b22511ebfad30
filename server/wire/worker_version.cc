// SPDX-License-Identifier: Apache-2.0
#include "server/wire/worker_version.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/wire/field_checks.h"

namespace frostline::server {
namespace {

constexpr std::int64_t kApart = 1;

struct Minor {
  std::int32_t major = 0;
  std::int32_t minor = 0;
};

// "0.4.2" and "0.4.2~rc1" are of 0.4.
std::optional<Minor> MinorOf(const std::string& version) {
  const std::vector<absl::string_view> parts = absl::StrSplit(version, '.');
  Minor minor;
  const bool reads = parts.size() >= 2 &&
                     absl::SimpleAtoi(parts[0], &minor.major) &&
                     absl::SimpleAtoi(parts[1], &minor.minor) &&
                     minor.major >= 0 && minor.minor >= 0;
  return reads ? std::optional<Minor>(minor) : std::nullopt;
}

}  // namespace

absl::Status CheckWorkerVersion(const std::string& workers,
                                const std::string& ours) {
  const std::optional<Minor> theirs = MinorOf(workers);
  const std::optional<Minor> own = MinorOf(ours);
  if (!theirs.has_value() || !own.has_value()) return absl::OkStatus();
  const std::int64_t apart =
      std::int64_t{theirs->minor} - std::int64_t{own->minor};
  if (theirs->major == own->major && std::abs(apart) <= kApart) {
    return absl::OkStatus();
  }
  const auto line = [&own](std::int64_t minor) {
    return absl::StrCat(own->major, ".", minor);
  };
  return BadField(
      "worker.version",
      absl::StrCat("is ", theirs->major, ".", theirs->minor,
                   ", but this coordinator, ", ours, ", serves workers of ",
                   line(std::max<std::int64_t>(0, own->minor - kApart)), " to ",
                   line(own->minor + kApart)),
      absl::StrCat("start a worker of ", line(own->minor),
                   ": another image or package; or upgrade the coordinator"));
}

}  // namespace frostline::server
