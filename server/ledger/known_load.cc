// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/known_load.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "proto/wire_time.h"

namespace frostline::server {
namespace {

constexpr std::size_t kMostModels = 4;
constexpr std::size_t kMostModelBytes = 64;

// A label's value: short, and of letters that every tool can show.
std::string LabelOf(const std::string& model) {
  std::string label = model.substr(0, kMostModelBytes);
  for (char& letter : label) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(letter))) letter = '_';
  }
  return label.empty() ? kOtherModel : label;
}

GpuUse LoadUseOf(const v1::GpuLoad& gpu) {
  GpuUse use;
  if (gpu.has_utilization()) {
    use.gpus = 1;
    use.busy = gpu.utilization();
  }
  use.memory_bytes = static_cast<double>(gpu.memory_total_bytes());
  use.memory_used_bytes = static_cast<double>(gpu.memory_used_bytes());
  use.watts = gpu.power_watts();
  return use;
}

}  // namespace

GpuUse& GpuUse::operator+=(const GpuUse& more) {
  gpus += more.gpus;
  busy += more.busy;
  leased += more.leased;
  memory_bytes += more.memory_bytes;
  memory_used_bytes += more.memory_used_bytes;
  watts += more.watts;
  return *this;
}

LoadPtr LoadOf(const v1::NodeLoad& load, const v1::Worker& worker,
               WallMicros now) {
  std::map<std::string, std::string> models;  // by uuid
  for (const v1::Hardware::Gpu& gpu : worker.hardware().gpus()) {
    models.emplace(gpu.uuid(), LabelOf(gpu.model()));
  }
  KnownLoad known{load, {}};
  *known.load.mutable_as_of() = proto::TimestampToProto(now);
  for (const v1::GpuLoad& gpu : load.gpus()) {
    const auto found = models.find(gpu.uuid());
    std::string model = found == models.end() ? kOtherModel : found->second;
    const bool has_room =
        known.gpus.size() < kMostModels || known.gpus.contains(model);
    known.gpus[has_room ? model : kOtherModel] += LoadUseOf(gpu);
  }
  return std::make_shared<const KnownLoad>(std::move(known));
}

GpuUse Leased(GpuUse use, std::size_t trials, std::int64_t slots) {
  const double share = static_cast<double>(trials) /
                       static_cast<double>(std::max(slots, std::int64_t{1}));
  use.leased = use.gpus * std::min(share, 1.0);
  return use;
}

}  // namespace frostline::server
