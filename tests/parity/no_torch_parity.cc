// SPDX-License-Identifier: Apache-2.0
//
// In the place of the checks that need LibTorch, where a build has none.
#include <string>

#include "tests/parity/parity.h"

namespace frostline::test {
namespace {

void Skip(const std::string&, ParityResult& result) {
  result.Skip("built without LibTorch");
}

const bool kNoTorchRegistered =
    RegisterParity("model", R"((.*/)?models/[^/]+/expected\.json)", Skip) &&
    RegisterParity("trajectory", R"((.*/)?trajectories/[^/]+\.json)", Skip) &&
    RegisterParity("sentence_model", R"((.*/)?minilm/sentences\.json)", Skip);

}  // namespace
}  // namespace frostline::test
