// SPDX-License-Identifier: Apache-2.0
#include "tests/importance/contradictions.h"

#include "gtest/gtest.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

// Four of each kind; `./dev bench contradictions` takes 2,000.
TEST(Contradictions, AreInNoAnswer) {
  for (std::uint64_t seed = 0; seed < (kWatched ? 15u : 60u); ++seed) {
    const OddStudy study = MakeOddStudy(seed);
    const auto answer = AnswerAll(study);
    if (!answer.ok()) continue;  // refused, which contradicts nothing
    for (const std::string& one : FindContradictions(study, *answer)) {
      ADD_FAILURE() << study.kind << " (" << seed << "): " << one << "\n  "
                    << answer->verdict << "\n  " << answer->plan.verdict
                    << "\n  " << answer->frontier.verdict;
    }
  }
}

}  // namespace
}  // namespace frostline::importance
