// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/registry.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

TEST(IdleFix, NamesTheAddressAndTheFlagsThatAWorkerNeeds) {
  unsetenv("FROSTLINE_REGISTRY");
  v1::ExplainStudyReply::Reason reason;
  reason.set_code("NO_WORKERS");
  reason.set_fix("start one: frostline worker --connect HOST:PORT");
  EXPECT_EQ(IdleFix(reason, "127.0.0.1:7071"),
            "start one: frostline worker --connect 127.0.0.1:7071 --registry "
            "DIR");
}

TEST(IdleFix, EveryOtherStaysAsTheCoordinatorSaysIt) {
  v1::ExplainStudyReply::Reason reason;
  reason.set_code("PAUSED");
  reason.set_fix("resume it");
  EXPECT_EQ(IdleFix(reason, "127.0.0.1:7071"), "resume it");
}

}  // namespace
}  // namespace frostline::cli
