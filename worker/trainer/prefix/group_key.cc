// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/group_key.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include "base/plain/sums.h"
#include "worker/trainer/device/device.h"

namespace frostline::trainer {
namespace {

// Raised whenever a change of ours may change a bit of a boundary.
constexpr char kArithmetic[] = "frostline 3";

}  // namespace

std::string KernelFingerprint(const Device& device) {
  std::string text = std::string(kArithmetic) + "\n" + TORCH_VERSION + "\n" +
                     device.name() + "\n" + at::get_cpu_capability() + "\n" +
                     std::to_string(at::get_num_threads()) + "\n";
  // MKL and oneDNN choose kernels by what the processor says of itself.
  const CpuInfo cpu = ReadCpuInfo();
  text += cpu.vendor + " " + std::to_string(cpu.family);
  for (const std::string& flag : cpu.flags) text += " " + flag;
  return text;
}

std::string GroupKeyOf(const GroupParts& parts, const std::string& kernels) {
  Sha256Sum sum;
  sum.AddField(parts.weights_sha256);
  sum.AddField(parts.config_json);
  sum.AddField(parts.adapters);
  sum.AddNumber(static_cast<std::uint64_t>(parts.blocks));
  sum.AddNumber(parts.first_token ? 1 : 0);
  sum.AddField(NameOf(parts.precision));
  sum.AddField(parts.noise);
  sum.AddField(kernels);
  return sum.Finish();
}

}  // namespace frostline::trainer
