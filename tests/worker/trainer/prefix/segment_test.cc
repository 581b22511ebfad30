// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/segment.h"

#include <filesystem>

#include "base/plain/sums.h"
#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/prefix/stored_rows.h"

namespace frostline::trainer {
namespace {

class SegmentTest : public ::testing::Test {
 protected:
  void Write(int rows) {
    auto writer = SegmentWriter::Create(path_, GroupNamed('a')).value();
    for (int i = 0; i < rows; ++i) {
      const auto number = static_cast<std::uint64_t>(i);
      ASSERT_TRUE(writer.Append(KeyOf(number), RowOf(number)).ok());
    }
    ASSERT_TRUE(writer.Commit().ok());
  }

  // Every row that can be had is the one that was written.
  int RightRows() const {
    const Expected<Segment> segment = Segment::Open(path_, GroupNamed('a'));
    if (!segment.ok()) return 0;
    int right = 0;
    for (const RowPlace& place : segment.value().rows()) {
      std::vector<float> row(RowOf(place.key.low).size());
      if (!segment.value().Read(place, row).ok()) continue;
      EXPECT_EQ(row, RowOf(place.key.low));
      ++right;
    }
    return right;
  }

  TempFolder folder_;
  const std::string path_ = folder_.File("000001.rows");
};

TEST(Crc32c, IsThatOfTheRfc) {
  EXPECT_EQ(Crc32c(0, "123456789", 9), 0xE3069283U);
  EXPECT_EQ(Crc32cByTable(0, "123456789", 9), 0xE3069283U);
}

TEST(Crc32c, ByTableAndInPartsIsTheSame) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    bytes += static_cast<char>(i * 37);
    const std::size_t half = bytes.size() / 2;
    const std::uint32_t whole = Crc32c(0, bytes.data(), bytes.size());
    EXPECT_EQ(whole, Crc32cByTable(0, bytes.data(), bytes.size()));
    EXPECT_EQ(whole, Crc32c(Crc32c(0, bytes.data(), half), bytes.data() + half,
                            bytes.size() - half));
  }
}

TEST(RowKey, TellsIdsTypesAndTheirBorderApart) {
  const std::vector<std::int32_t> ids = {1, 2, 3};
  const std::vector<std::int32_t> others = {1, 2, 4};
  const std::vector<std::uint8_t> types = {0, 0, 0};
  const std::vector<std::uint8_t> second = {0, 0, 1};
  EXPECT_EQ(RowKeyOf(ids, types), RowKeyOf(ids, types));
  EXPECT_NE(RowKeyOf(ids, types), RowKeyOf(others, types));
  EXPECT_NE(RowKeyOf(ids, types), RowKeyOf(ids, second));
}

TEST_F(SegmentTest, GivesBackWhatWasWritten) {
  Write(20);
  EXPECT_EQ(RightRows(), 20);
}

TEST_F(SegmentTest, HasNoFileBeforeItIsWhole) {
  {
    auto writer = SegmentWriter::Create(path_, GroupNamed('a')).value();
    ASSERT_TRUE(writer.Append(KeyOf(1), RowOf(1)).ok());
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(SegmentTest, NeverGivesAWrongNumberWhateverBitIsFlipped) {
  Write(8);
  const std::string whole = BytesOf(path_);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    WriteBytes(path_, flipped);
    RightRows();  // compares each
  }
}

TEST_F(SegmentTest, NeverGivesAWrongNumberWhereverItIsCut) {
  Write(8);
  const std::string whole = BytesOf(path_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    WriteBytes(path_, whole.substr(0, size));
    EXPECT_EQ(RightRows(), 0) << size;
  }
}

TEST_F(SegmentTest, LosesTheSpoiltRowAlone) {
  Write(8);
  std::string bytes = BytesOf(path_);
  bytes[80] = static_cast<char>(bytes[80] ^ 1);  // of the first row
  WriteBytes(path_, bytes);
  EXPECT_EQ(RightRows(), 7);
}

TEST_F(SegmentTest, CutWhileItIsOpenGivesNothing) {
  Write(8);
  const auto segment = Segment::Open(path_, GroupNamed('a')).value();
  std::filesystem::resize_file(path_, 81);
  std::vector<float> row(1);
  EXPECT_FALSE(segment.Read(segment.rows().front(), row).ok());
}

TEST_F(SegmentTest, OfAnotherGroupOrVersionIsNotOpened) {
  Write(8);
  EXPECT_EQ(Segment::Open(path_, GroupNamed('b')).fault().kind,
            FaultKind::kInconsistent);
  std::string bytes = BytesOf(path_);
  bytes[8] = 2;  // the version
  WriteBytes(path_, bytes);
  EXPECT_EQ(Segment::Open(path_, GroupNamed('a')).fault().kind,
            FaultKind::kInconsistent);
}

}  // namespace
}  // namespace frostline::trainer
