// SPDX-License-Identifier: Apache-2.0
//
// The small parts of storage/sqlite.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "storage/row_columns.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/row_codec.h"
#include "study/space.h"
#include "tests/contract/row_text.h"
#include "tests/support/status_matchers.h"

namespace frostline::storage {
namespace {

TEST(RowSum, StringsDoNotRunIntoEachOther) {
  RowSum first;
  first.AddString("ab");
  first.AddString("c");
  RowSum second;
  second.AddString("a");
  second.AddString("bc");
  EXPECT_NE(first.value(), second.value());
}

TEST(Blobs, EveryBitOfADoubleComesBack) {
  Measurement measurement;
  measurement.elapsed_s = kAbsent;
  measurement.metrics = {{"a", -0.0},
                         {"", std::numeric_limits<double>::denorm_min()},
                         {"\xff", -std::numeric_limits<double>::infinity()},
                         {"nan", -kAbsent}};
  Measurement back;
  ASSERT_TRUE(DecodeMeasurement(EncodeMeasurement(measurement), back));
  EXPECT_EQ(test::Text(back), test::Text(measurement));
  EXPECT_EQ(EncodeDoubles({1.0}), std::string("\0\0\0\0\0\0\xf0\x3f", 8));
}

TEST(Blobs, HalfANumberIsRefused) {
  Measurement measurement;
  measurement.metrics = {{"loss", 1.0}, {"accuracy", 2.0}};
  const std::string whole = EncodeMeasurement(measurement);
  Measurement back;
  int accepted = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (DecodeMeasurement(whole.substr(0, size), back)) ++accepted;
  }
  EXPECT_EQ(accepted, 2);  // none, and the first metric alone
  std::vector<double> values;
  EXPECT_FALSE(DecodeDoubles("1234567", values));
  EXPECT_TRUE(DecodeDoubles("", values));
  EXPECT_TRUE(values.empty());
}

TEST(SqliteVersion, TheFlawEndsWithTheFixAndItsBackports) {
  for (const int flawed :
       {3'007'000, 3'040'001, 3'044'005, 3'045'000, 3'050'006, 3'051'002}) {
    EXPECT_TRUE(HasWalResetFlaw(flawed)) << flawed;
  }
  for (const int mended :
       {3'006'023, 3'044'006, 3'050'007, 3'051'003, 3'052'000}) {
    EXPECT_FALSE(HasWalResetFlaw(mended)) << mended;
  }
}

TEST(Files, NetworkFileSystemsAreRefused) {
  for (const unsigned long magic :
       {0x6969ul, 0xff534d42ul, 0xffffffffff534d42ul, 0x0bd00bd0ul,
        0x65735546ul}) {
    EXPECT_THAT(CheckFileSystemKind(magic, "/data"),
                FailsWith(ErrorId::kStoreFileSystem))
        << std::hex << magic;
  }
  for (const unsigned long local : {0xef53ul, 0x58465342ul, 0x9123683eul}) {
    EXPECT_OK(CheckFileSystemKind(local, "/data"));
  }
}

}  // namespace
}  // namespace frostline::storage
