// SPDX-License-Identifier: Apache-2.0
//
// Models, and training step by step, against what transformers and torch.optim
// computed from the same files; on the processor.
#include <filesystem>
#include <string>

#include "tests/parity/figures/torch_figures.h"
#include "tests/parity/figures/torch_recordings.h"
#include "tests/parity/parity.h"

namespace frostline::test {
namespace {

using Compute = Figures (*)(const std::filesystem::path&,
                            const trainer::Device&, const trainer::Kernels&);

ParityCheck CheckOf(Compute compute) {
  return [compute](const std::string& path, ParityResult& result) {
    const trainer::Device processor = OrThrow(trainer::Device::Open("cpu"));
    for (const Figure& each : compute(path, processor, {})) {
      result.Near(each.what, each.expected, each.actual,
                  Limits().Of(each.kind));
    }
  };
}

const bool kTorchRegistered =
    RegisterParity("model", R"((.*/)?models/[^/]+/expected\.json)",
                   CheckOf(ModelFigures)) &&
    RegisterParity("trajectory", R"((.*/)?trajectories/[^/]+\.json)",
                   CheckOf(TrajectoryFigures));

}  // namespace
}  // namespace frostline::test
