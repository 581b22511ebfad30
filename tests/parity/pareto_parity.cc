// SPDX-License-Identifier: Apache-2.0
//
// Ranks of non-domination, hypervolumes and greedily chosen subsets against
// what Optuna 5 recorded.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sampler/split.h"
#include "tests/parity/parity.h"

namespace frostline::test {
namespace {

using nlohmann::json;

constexpr const char* kVersion = "5.0.0";

// Non-finite numbers are recorded as words.
double NumberOf(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  return value == "-inf" ? -infinity : infinity;
}

std::vector<double> NumbersOf(const json& values) {
  std::vector<double> numbers;
  for (const json& value : values) numbers.push_back(NumberOf(value));
  return numbers;
}

sampler::LossVectors LossesOf(const json& recorded) {
  sampler::LossVectors losses;
  for (const json& row : recorded.at("loss_values")) {
    losses.push_back(NumbersOf(row));
  }
  return losses;
}

// Two points may add the same but for rounding; then either is a right choice,
// and whoever comes after is judged by the recorded one.
void CompareChoices(const sampler::LossVectors& losses,
                    const std::vector<double>& reference,
                    const std::vector<std::size_t>& recorded,
                    const std::string& where, ParityResult& result) {
  const auto ours =
      sampler::SelectByHypervolume(losses, reference, recorded.size());
  if (ours == recorded) return result.True(where + ": choice", true);
  sampler::LossVectors taken;
  for (const std::size_t choice : recorded) {
    double most = 0.0;
    for (const std::vector<double>& point : losses) {
      most = std::max(most, sampler::AddedVolume(point, taken, reference));
    }
    result.Near(where + ": what the next choice adds", most,
                sampler::AddedVolume(losses[choice], taken, reference), 1e-12);
    taken.push_back(losses[choice]);
  }
  sampler::LossVectors own;
  for (const std::size_t choice : ours) own.push_back(losses[choice]);
  result.Near(where + ": volume of the choice",
              sampler::Hypervolume(taken, reference),
              sampler::Hypervolume(own, reference), 1e-12);
}

void CheckHypervolume(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  int number = 0;
  for (const json& one : file.at("results").at(kVersion).at("cases")) {
    const std::string where = "case " + std::to_string(number++);
    const sampler::LossVectors losses = LossesOf(one);
    const std::vector<double> reference = NumbersOf(one.at("ref"));
    result.Near(where + ": hypervolume", NumberOf(one.at("hypervolume")),
                sampler::Hypervolume(losses, reference), 1e-12);
    if (one.at("hssp_k").is_null()) continue;
    CompareChoices(losses, reference, one.at("hssp_selected_in_order"), where,
                   result);
  }
}

// Recorded ranks behind the best `wanted` points are all the same, namely one
// more than the last that is exact.
void CompareFirstRanks(const json& recorded, const std::vector<int>& ranks,
                       const std::string& where, ParityResult& result) {
  int last = 0;
  for (const json& rank : recorded) last = std::max(last, rank.get<int>());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    result.True(where + ": first ranks",
                recorded[i].get<int>() == std::min(ranks[i], last));
  }
}

void CheckRanks(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  int number = 0;
  for (const json& one : file.at("results").at(kVersion).at("cases")) {
    const std::string where = "case " + std::to_string(number++);
    const sampler::LossVectors losses = LossesOf(one);
    const std::vector<int> ranks = sampler::NonDominationRanks(losses);
    result.True(where + ": ranks", one.at("rank") == json(ranks));
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      result.True(where + ": front", one.at("on_front")[i] == (ranks[i] == 0));
    }
    CompareFirstRanks(one.at("rank_n_below"), ranks, where, result);
    result.True(
        where + ": ranks with constraints",
        one.at("rank_penalty") == json(sampler::NonDominationRanks(
                                      losses, NumbersOf(one.at("penalty")))));
  }
}

const bool kParetoRegistered =
    RegisterParity("hypervolume", R"(hypervolume_.*\.json)",
                   CheckHypervolume) &&
    RegisterParity("pareto_rank", R"(pareto_rank_.*\.json)", CheckRanks);

}  // namespace
}  // namespace frostline::test
