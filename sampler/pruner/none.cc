// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/none.h"

#include "base/status_macros.h"
#include "sampler/options.h"

namespace frostline::sampler {
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
    const PrunerSpec& spec, const Objective& /*objective*/) {
  const OptionReader reader(ErrorId::kPrunerInvalid, "pruner none", spec.field,
                            spec.options);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<NoPruner>();
}

}  // namespace frostline::sampler
