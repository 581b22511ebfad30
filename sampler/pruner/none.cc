// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/none.h"

#include "base/status_macros.h"

namespace frostline {
namespace {

class NoPruner final : public Pruner {
 public:
  PruneDecision Judge(const History& /*history*/,
                      std::int64_t /*trial*/) override {
    return {};
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeNoPruner(
    const Options& options, const std::vector<Objective>& /*objectives*/) {
  const OptionReader reader(ErrorId::kPrunerInvalid, "pruner none",
                            "pruner.options", options);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<NoPruner>();
}

}  // namespace frostline
