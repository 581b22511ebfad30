// SPDX-License-Identifier: Apache-2.0
//
// File: native_tpe.h
#ifndef FROSTLINE_SAMPLER_TPE_NATIVE_TPE_H_
#define FROSTLINE_SAMPLER_TPE_NATIVE_TPE_H_

#include <memory>
#include <vector>

#include "sampler/cost.h"
#include "sampler/input.h"
#include "sampler/sampler.h"
#include "sampler/split/trial_table.h"
#include "sampler/tpe/prior_evidence.h"
#include "sampler/tpe/tpe_options.h"
#include "sampler/tpe/tpe_search.h"

namespace frostline::sampler {

class NativeTpe final : public Sampler {
 public:
  NativeTpe(const TpeOptions& options, const SamplerInput& input);
  NativeTpe(const NativeTpe&) = delete;
  NativeTpe& operator=(const NativeTpe&) = delete;

  // Counts the kernels of the last proposal's densities, for tests.
  std::size_t kernels_used() const { return kernels_used_; }
  const CellTable& table() const { return table_; }

 private:
  struct Sides {
    std::vector<WeightedCells> good, rest;
  };

  absl::StatusOr<Point> ProposeUntil(const std::stop_token& stop,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override;

  // What they answer once stopped is of no use.
  Point Startup(const History& history, std::int64_t number, Rng& rng,
                const std::stop_token& stop);
  Point Informed(const History& history, std::int64_t number, Rng& rng,
                 const std::stop_token& stop);
  // Answers null while all trials are taken to cost the same.
  const CostModel* CostOf(const History& history);
  Sides SplitSides(const History& history, std::int64_t number,
                   const CostModel* cost);
  std::vector<std::uint32_t> GoodTrials(const History& history,
                                        std::int64_t number);
  void AddRest(const History& history, std::int64_t number,
               const std::vector<std::uint32_t>& good, Sides& sides) const;
  void AddPriors(const History& history, Sides& sides);
  const Point* PointOf(const History& history, std::int64_t number) const;

  TpeOptions options_;
  Space space_;
  std::vector<Objective> objectives_;
  std::vector<CellAxis> axes_;
  KernelCache kernels_;
  CellTable table_;
  TrialTable keys_;  // for several objectives
  TpeSearch search_;
  std::vector<PriorEvidence> priors_;
  CostModel cost_;  // as the option says
  std::size_t kernels_used_ = 0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_NATIVE_TPE_H_
