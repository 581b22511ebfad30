// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat.h"

#include "base/status_macros.h"
#include "sampler/options.h"

namespace frostline::sampler {
namespace {

class CompatSampler final : public Sampler {
 public:
  CompatSampler(const CompatOptions& options, const SamplerInput& input)
      : tpe_(options, input.space, input.objectives) {}

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& /*stop*/,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override {
    CompatStreams streams(static_cast<std::uint32_t>(rng.Next() >> 32));
    return tpe_.Propose(history, number, streams);
  }

  CompatTpe tpe_;
};

}  // namespace

absl::StatusOr<CompatOptions> ReadCompatOptions(const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler tpe with compat",
                      "sampler.options", input.options);
  CompatOptions compat;
  compat.version = reader.OneOf("compat", "v5", {"v4", "v5"}) == "v4"
                       ? OptunaVersion::kV4
                       : OptunaVersion::kV5;
  const bool v5 = compat.version == OptunaVersion::kV5;
  compat.startup_trials =
      static_cast<std::size_t>(reader.Int("startup_trials", 10, 0, 1'000'000));
  compat.candidates =
      static_cast<std::size_t>(reader.Int("candidates", 24, 1, 10'000));
  compat.group = reader.Bool("group", false);
  compat.multivariate = reader.Bool(
      "multivariate", v5 && (compat.group || input.objectives.size() == 1));
  compat.constant_liar = reader.Bool("constant_liar", v5);
  compat.levels_are_integers =
      reader.OneOf("levels", "categorical", {"categorical", "int"}) == "int";
  RETURN_IF_ERROR(reader.Finish());
  if (compat.group && !compat.multivariate) {
    return MakeError(ErrorId::kSamplerInvalid,
                     "group draws parameters together, multivariate is off",
                     "give multivariate: true too, or leave group out",
                     "sampler.options.group");
  }
  return compat;
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeCompatTpeSampler(
    const SamplerInput& input) {
  ASSIGN_OR_RETURN(const CompatOptions options, ReadCompatOptions(input));
  return std::make_unique<CompatSampler>(options, input);
}

}  // namespace frostline::sampler
