// SPDX-License-Identifier: Apache-2.0
//
// Statements of one answer that cannot both be true, in 2,000 studies of every
// kind (with --quick 150):
//
//   contradictions.studies   that could be answered
//   contradictions.found     0 is wanted; each is printed
#include <cstdint>
#include <iostream>

#include "tests/bench/bench_main.h"
#include "tests/importance/contradictions.h"

namespace frostline::bench {
namespace {

void Measure(const Bench& bench) {
  double studies = 0.0, found = 0.0;
  for (std::uint64_t seed = 0; seed < (bench.quick() ? 150u : 2000u); ++seed) {
    const importance::OddStudy study = importance::MakeOddStudy(seed);
    const auto answer = importance::AnswerAll(study);
    if (!answer.ok()) continue;
    ++studies;
    for (const std::string& one :
         importance::FindContradictions(study, *answer)) {
      ++found;
      std::cerr << seed << ", " << study.kind << ": " << one << "\n";
    }
  }
  bench.Figure("contradictions.studies", studies);
  bench.Figure("contradictions.found", found);
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  const frostline::bench::Bench bench(argc, argv);
  frostline::bench::Measure(bench);
  return 0;
}
