// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sampler/options.h"

namespace frostline::sampler {

CompatTpe::CompatTpe(const CompatOptions& options, const Space& space,
                     std::vector<Objective> objectives)
    : options_(options),
      space_(space, options.levels_are_integers),
      objectives_(std::move(objectives)),
      trials_(space_, objectives_) {}

CompatMixture CompatTpe::Fit(const CompatBlock& block, const CompatView& view,
                             bool is_below) const {
  const std::vector<const CompatRow*>& trials =
      is_below ? view.below : view.above;
  const bool is_weighted = is_below && !view.below_weights.empty();
  std::vector<const Domain*> domains;
  for (const std::size_t p : block) {
    domains.push_back(&space_.parameters()[p].domain);
  }
  Columns columns(block.size());
  std::vector<double> weights;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const CompatRow& row = *trials[t];
    const bool has_all =
        std::none_of(block.begin(), block.end(),
                     [&row](std::size_t p) { return IsAbsent(row[p]); });
    if (!has_all) continue;
    for (std::size_t d = 0; d < block.size(); ++d) {
      columns[d].push_back(row[block[d]]);
    }
    if (is_weighted) weights.push_back(view.below_weights[t]);
  }
  if (!is_weighted) weights = CompatWeights(columns[0].size());
  const bool shared =
      options_.version == OptunaVersion::kV4 && options_.multivariate;
  return CompatMixture(
      domains, columns, std::move(weights),
      shared ? KernelWidth::kShared : KernelWidth::kNeighbours);
}

void CompatTpe::DrawBlock(const CompatBlock& block, const CompatView& view,
                          NumpyStream& stream, CompatRow& row) const {
  CompatMixture good = Fit(block, view, true);
  CompatMixture rest = Fit(block, view, false);
  const Columns candidates = good.Draw(options_.candidates, stream);
  const std::vector<double> l = good.LogDensity(candidates);
  const std::vector<double> g = rest.LogDensity(candidates);
  std::size_t best = 0;
  for (std::size_t c = 1; c < l.size(); ++c) {
    if (l[c] - g[c] > l[best] - g[best]) best = c;
  }
  for (std::size_t d = 0; d < block.size(); ++d) {
    row[block[d]] = candidates[d][best];
  }
}

Point CompatTpe::Propose(const History& history, std::int64_t number,
                         CompatStreams& streams) {
  trials_.CatchUp(history);
  const CompatView view =
      trials_.Look(history, number, options_.constant_liar, options_.version);
  const bool is_startup = view.ended.size() < options_.startup_trials;
  const std::vector<CompatParameter>& parameters = space_.parameters();
  CompatRow joint(parameters.size(), kAbsent);
  if (options_.multivariate && !is_startup) {
    for (const CompatBlock& block : options_.group
                                        ? GroupedBlocks(space_, view.ended)
                                        : CommonBlock(space_, view.ended)) {
      DrawBlock(block, view, streams.tpe, joint);
    }
  }
  CompatRow row(parameters.size(), kAbsent);
  Point point(space_.space().parameters().size(), kAbsent);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!space_.IsAsked(i, point, row)) continue;
    const Domain& domain = parameters[i].domain;
    if (parameters[i].is_single) {
      row[i] = ListValues(domain)[0];
    } else if (!IsAbsent(joint[i])) {
      row[i] = joint[i];
    } else if (is_startup) {
      row[i] = DrawCompatRandom(domain, options_.version, streams.startup);
    } else {
      DrawBlock({i}, view, streams.tpe, row);
    }
    space_.Write(i, row[i], point);
  }
  return point;
}

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
