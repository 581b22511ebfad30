// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "sampler/random.h"
#include "sampler/tpe/parzen.h"
#include "sampler/tpe/trial_table.h"

namespace frostline {
namespace {

struct TpeOptions {
  std::size_t startup_trials = 0;
  int candidates = 0;
  bool multivariate = false;
  bool constant_liar = false;
  double frozen_share = 0.0;
};

using Block = std::vector<std::size_t>;  // parameters drawn together

bool SameCondition(const Parameter& a, const Parameter& b) {
  if (!a.condition.has_value() || !b.condition.has_value()) {
    return a.condition.has_value() == b.condition.has_value();
  }
  return a.condition->parent == b.condition->parent &&
         a.condition->values == b.condition->values &&
         a.condition->min == b.condition->min &&
         a.condition->max == b.condition->max;
}

// In the order of their first parameters, so parents come before children.
std::vector<Block> MakeBlocks(const Space& space, bool multivariate) {
  std::vector<Block> blocks;
  const std::vector<Parameter>& parameters = space.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto same =
        std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
          return SameCondition(parameters[block[0]], parameters[i]);
        });
    if (multivariate && same != blocks.end()) {
      same->push_back(i);
    } else {
      blocks.push_back({i});
    }
  }
  return blocks;
}

class TpeSampler final : public Sampler {
 public:
  TpeSampler(const TpeOptions& options, Space space,
             std::vector<Objective> objectives)
      : options_(options),
        space_(std::move(space)),
        objectives_(std::move(objectives)),
        blocks_(MakeBlocks(space_, options_.multivariate)),
        table_(space_, objectives_) {}

  absl::StatusOr<Point> Propose(const History& history, std::int64_t number,
                                Rng& rng) override {
    table_.CatchUp(history);
    const auto trials = table_.List(history, number, options_.constant_liar);
    const auto ended = static_cast<std::size_t>(
        std::count_if(trials.begin(), trials.end(), [](const KeyedTrial& t) {
          return t.key->group != SplitGroup::kRunning;
        }));
    if (ended < std::max<std::size_t>(options_.startup_trials, 1)) {
      return DrawPoint(space_, options_.frozen_share, rng);
    }
    const Split split =
        SplitTrials(trials, CountBelow(ended, objectives_.size()));
    Point point(static_cast<std::size_t>(space_.size()), kAbsent);
    for (const Block& block : blocks_) {
      if (space_.IsActive(static_cast<int>(block[0]), point)) {
        DrawBlock(block, split, history, rng, point);
      }
    }
    return point;
  }

 private:
  void DrawBlock(const Block& block, const Split& split, const History& history,
                 Rng& rng, Point& point) const {
    // With several objectives the good trials are equals, however old.
    ParzenMixture good =
        Fit(block, split.below, history,
            objectives_.size() == 1 ? Recency::kForget : Recency::kEqual);
    ParzenMixture rest = Fit(block, split.above, history, Recency::kForget);
    const Columns candidates = good.Draw(options_.candidates, rng);
    const std::vector<double> l = good.LogDensity(candidates);
    const std::vector<double> g = rest.LogDensity(candidates);
    std::size_t best = 0;
    for (std::size_t c = 1; c < l.size(); ++c) {
      if (l[c] - g[c] > l[best] - g[best]) best = c;
    }
    for (std::size_t d = 0; d < block.size(); ++d) {
      point[block[d]] = candidates[d][best];
    }
  }

  // Of the trials in which the block was active.
  ParzenMixture Fit(const Block& block,
                    const std::vector<std::uint32_t>& trials,
                    const History& history, Recency recency) const {
    std::vector<const Domain*> domains;
    Columns columns(block.size());
    for (std::size_t d = 0; d < block.size(); ++d) {
      domains.push_back(&space_.parameters()[block[d]].domain);
      columns[d].reserve(trials.size());
    }
    for (const std::uint32_t i : trials) {
      const Point& seen = history.trials()[i].point;
      if (IsAbsent(seen[block[0]])) continue;
      for (std::size_t d = 0; d < block.size(); ++d) {
        columns[d].push_back(seen[block[d]]);
      }
    }
    return ParzenMixture(domains, columns, recency, options_.frozen_share);
  }

  TpeOptions options_;
  Space space_;
  std::vector<Objective> objectives_;
  std::vector<Block> blocks_;
  TrialTable table_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeTpeSampler(
    const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler tpe",
                      "sampler.options", input.options);
  TpeOptions tpe;
  tpe.startup_trials =
      static_cast<std::size_t>(reader.Int("startup_trials", 10, 0, 1'000'000));
  tpe.candidates = static_cast<int>(reader.Int("candidates", 24, 1, 10'000));
  tpe.multivariate = reader.Bool("multivariate", input.objectives.size() == 1);
  tpe.constant_liar = reader.Bool("constant_liar", true);
  tpe.frozen_share = reader.Number("frozen_share", kFrozenShare, 0.0, 1.0);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<TpeSampler>(tpe, input.space, input.objectives);
}

}  // namespace frostline
