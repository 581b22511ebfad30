// SPDX-License-Identifier: Apache-2.0
#include "gmock/gmock.h"
#include "worker/trainer/device/device.h"

namespace frostline::trainer {
namespace {

using testing::ElementsAre;

TEST(OpenMpRuntimes, AreThoseInTheMapEachOnce) {
  EXPECT_THAT(
      OpenMpRuntimes(
          "7f1-7f2 r-xp 00000000 fe:00 11  /usr/lib/libgomp.so.1.0.0\n"
          "7f2-7f3 rw-p 00001000 fe:00 11  /usr/lib/libgomp.so.1.0.0\n"
          "7f4-7f5 r-xp 00000000 fe:00 12  /opt/a b/libgomp-a34b3233.so.1\n"
          "7f5-7f6 r-xp 00000000 fe:00 13  /opt/lib/libiomp5.so\n"
          "7f6-7f7 r-xp 00000000 fe:00 14  /usr/lib/libompi.so.40\n"
          "7f7-7f8 rw-p 00000000 00:00 0   [heap]\n"),
      ElementsAre("/opt/a b/libgomp-a34b3233.so.1", "/opt/lib/libiomp5.so",
                  "/usr/lib/libgomp.so.1.0.0"));
}

TEST(OpenMpRuntimes, NoneIsFine) {
  EXPECT_THAT(OpenMpRuntimes(""), ElementsAre());
}

}  // namespace
}  // namespace frostline::trainer
