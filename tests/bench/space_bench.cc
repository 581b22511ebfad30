// SPDX-License-Identifier: Apache-2.0
//
// What it costs to look at one point of a search space, and how that grows
// with the number of modules. Every layer is cut into attention, feed-forward
// and the rest, the first two with seven levels each, all below a prefix depth:
// the check then walks a condition for every one of them.
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/rng.h"
#include "study/space.h"
#include "study/space_builder.h"
#include "tests/bench/bench_main.h"

namespace frostline::bench {
namespace {

absl::StatusOr<Space> SpaceOf(int modules) {
  const Levels levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}};
  const int layers = (modules - 2) / 3;  // besides: embeddings and head
  SpaceBuilder builder({.num_layers = layers, .has_pooler = false});
  builder.AddModules("layer.*.attention", levels, "space.modules[0]");
  builder.AddModules("layer.*.ffn", levels, "space.modules[1]");
  builder.AddModules("head", levels, "space.modules[2]");
  builder.SetPrefixDepth(0, layers, "space.prefix_depth");
  return builder.Build();
}

Point RandomPoint(const Space& space, Rng& rng) {
  Point point;
  for (const Parameter& parameter : space.parameters()) {
    const auto values =
        static_cast<std::uint64_t>(CountValues(parameter.domain));
    point.push_back(ListValues(parameter.domain)[rng.Below(values)]);
  }
  // Half of the layers, so that sizes can be compared.
  const int depth = space.prefix_depth().value();
  point[depth] = static_cast<double>((space.modules().size() - 2) / 3 / 2);
  return space.Canonical(std::move(point));
}

void Measure(const Bench& bench, int modules) {
  const absl::StatusOr<Space> space = SpaceOf(modules);
  if (!space.ok() ||
      space->modules().size() != static_cast<std::size_t>(modules)) {
    std::cerr << "no space of " << modules
              << " modules: " << std::string(space.status().message()) << "\n";
    std::exit(1);
  }
  Rng rng(1);
  const Point point = RandomPoint(*space, rng);
  const std::string size = std::to_string(modules);
  bench.Figure("space.rates_us_" + size,
               bench.MicrosecondsPerCall([&] { Keep(space->Rates(point)); }));
  bench.Figure("space.check_us_" + size,
               bench.MicrosecondsPerCall([&] { Keep(space->Check(point)); }));
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  const frostline::bench::Bench bench(argc, argv);
  for (const int modules : {14, 26, 128, 512}) {
    frostline::bench::Measure(bench, modules);
  }
}
