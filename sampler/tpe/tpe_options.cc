// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe_options.h"

#include <charconv>
#include <optional>
#include <string>

#include "base/status_macros.h"
#include "sampler/draw/random.h"
#include "sampler/tpe/trial_shortlist.h"

namespace frostline::sampler {
namespace {

// "off", "avoid" or "replicate:n".
std::optional<std::size_t> ReadTries(const std::string& text) {
  if (text == "off") return 0;
  if (text == "avoid") return 1;
  const std::string prefix = "replicate:";
  if (text.rfind(prefix, 0) != 0) return std::nullopt;
  std::size_t tries = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + prefix.size(), end, tries);
  if (error != std::errc() || stop != end || tries < 1 || tries > 1'000) {
    return std::nullopt;
  }
  return tries;
}

}  // namespace

absl::StatusOr<TpeOptions> ReadTpeOptions(const SamplerInput& input) {
  Options options = input.options;
  TpeOptions tpe;
  if (const auto dedup = options.find("dedup"); dedup != options.end()) {
    const auto tries = ReadTries(dedup->second);
    if (!tries.has_value()) {
      return MakeError(ErrorId::kSamplerInvalid,
                       "sampler tpe: dedup is \"" + dedup->second + "\"",
                       "use off, avoid or replicate:n with n in 1 … 1000",
                       "sampler.options.dedup");
    }
    tpe.tries = *tries;
    options.erase(dedup);
  }
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler tpe",
                      "sampler.options", options);
  tpe.startup_trials =
      static_cast<std::size_t>(reader.Int("startup_trials", 10, 0, 1'000'000));
  tpe.spread_startup =
      reader.OneOf("startup", "spread", {"spread", "random"}) == "spread";
  tpe.candidates =
      static_cast<std::size_t>(reader.Int("candidates", 32, 1, 10'000));
  tpe.improve = static_cast<int>(reader.Int("improve", 1, 0, 100));
  tpe.multivariate = reader.Bool("multivariate", input.objectives.size() == 1);
  tpe.ordinal = reader.Bool("ordinal", true);
  tpe.learn_frozen = reader.OneOf("frozen_distance", "learnt",
                                  {"learnt", "level"}) == "learnt";
  tpe.rank_weights = reader.Bool("rank_weights", true);
  tpe.constant_liar = reader.Bool("constant_liar", true);
  tpe.avoid_failures =
      reader.OneOf("failures", "avoid", {"avoid", "ignore"}) == "avoid";
  tpe.cost_aware = reader.Bool("cost_aware", false);
  tpe.warm_start = reader.Bool("warm_start", true);
  tpe.frozen_share = reader.Number("frozen_share", kFrozenShare, 0.0, 1.0);
  tpe.kernels = static_cast<std::size_t>(
      reader.Int("kernels", 256, 1, TrialShortlist::kSample));
  RETURN_IF_ERROR(reader.Finish());
  return tpe;
}

}  // namespace frostline::sampler
