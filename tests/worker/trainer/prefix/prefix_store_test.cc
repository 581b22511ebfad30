// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/prefix_store.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/plain/sums.h"
#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/data/token_store.h"

namespace frostline::trainer {

// Rows whose numbers follow from their key, so that a reader knows what is
// right.

inline RowKey KeyOf(std::uint64_t i) { return {i * 77, i}; }

using Bytes = std::vector<std::byte>;

// Returns a row of 1 + i mod 7 numbers.
inline Bytes RowOf(std::uint64_t i) {
  std::vector<float> numbers(1 + i % 7);
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    numbers[j] = static_cast<float>(i * 10 + j) / 3.0F;
  }
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

inline std::string GroupNamed(char digit) { return std::string(64, digit); }

inline std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kMuch = 1U << 20U;
constexpr char kAbout[] = "m, embeddings and 2 of 3 layers, fp32";

class PrefixStoreTest : public ::testing::Test {
 protected:
  PrefixStore Open(std::uint64_t most = kMuch) const {
    return PrefixStore::Open(folder_.File("prefix"), most).value();
  }

  static void Fill(PrefixGroup& group, std::uint64_t first,
                   std::uint64_t last) {
    auto filler = GroupFiller::Try(group);
    ASSERT_TRUE(filler);
    for (std::uint64_t i = first; i < last; ++i) {
      ASSERT_TRUE(filler->Add(KeyOf(i), RowOf(i)).ok());
    }
    ASSERT_TRUE(filler->Finish().ok());
  }

  // How many of `rows` it has, all of them right.
  static int Found(PrefixGroup& group, std::uint64_t rows) {
    int found = 0;
    for (std::uint64_t i = 0; i < rows; ++i) {
      Bytes row(RowOf(i).size());
      if (!group.Read(KeyOf(i), row)) continue;
      EXPECT_EQ(row, RowOf(i));
      ++found;
    }
    return found;
  }

  // The group's rows saved so many seconds, each time they were taken.
  void Make(char name, std::uint64_t rows, double seconds, double taken) const {
    PrefixGroup group = Open().Group(GroupNamed(name), kAbout).value();
    Fill(group, 0, rows);
    group.Note({seconds, static_cast<double>(rows), taken});
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const StoredGroup& group : Open().List()) names.push_back(group.key);
    return names;
  }

  std::string FolderOf(char name) const {
    return folder_.File("prefix") + "/v1/" + GroupNamed(name);
  }

  TempFolder folder_;
};

// Runs `work` in a process that is killed when it has said so.
void KillIn(const std::function<void(int said)>& work) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    work(ends[1]);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(PrefixStoreTest, OneFillsAndAllFind) {
  PrefixGroup one = Open().Group(GroupNamed('a'), kAbout).value();
  PrefixGroup other = Open().Group(GroupNamed('a'), kAbout).value();
  Fill(one, 0, 30);
  EXPECT_EQ(Found(one, 40), 30);
  EXPECT_EQ(Found(other, 40), 0);
  other.Refresh();
  EXPECT_EQ(Found(other, 40), 30);
}

TEST_F(PrefixStoreTest, OneFillsAtATime) {
  PrefixGroup one = Open().Group(GroupNamed('a'), kAbout).value();
  PrefixGroup other = Open().Group(GroupNamed('a'), kAbout).value();
  {
    const auto filler = GroupFiller::Try(one);
    EXPECT_FALSE(GroupFiller::Try(other));
  }
  EXPECT_TRUE(GroupFiller::Try(other));
}

TEST_F(PrefixStoreTest, WhoIsKilledWhileFillingLeavesTheGroupToOthers) {
  PrefixGroup group = Open().Group(GroupNamed('a'), kAbout).value();
  KillIn([&](int said) {
    PrefixGroup own = Open().Group(GroupNamed('a'), kAbout).value();
    auto filler = GroupFiller::Try(own);
    for (std::uint64_t i = 0; i < 10; ++i) {
      std::ignore = filler->Add(KeyOf(i), RowOf(i));
    }
    std::ignore = write(said, "k", 1);
    pause();
  });
  Fill(group, 5, 20);
  EXPECT_EQ(Found(group, 30), 15);
  for (const auto& each : fs::directory_iterator(FolderOf('a'))) {
    EXPECT_EQ(each.path().string().find(".rows."), std::string::npos);
  }
}

TEST_F(PrefixStoreTest, ASpoiltRowIsFilledAgain) {
  PrefixGroup group = Open().Group(GroupNamed('a'), kAbout).value();
  Fill(group, 0, 10);
  const std::string path = FolderOf('a') + "/000001.rows";
  std::string bytes = BytesOf(path);
  bytes[81] = static_cast<char>(bytes[81] ^ 4);
  WriteBytes(path, bytes);
  EXPECT_EQ(Found(group, 10), 9);
  EXPECT_FALSE(group.Has(KeyOf(0)));
  Fill(group, 0, 1);
  EXPECT_EQ(Found(group, 10), 10);
  PrefixGroup later = Open().Group(GroupNamed('a'), kAbout).value();
  EXPECT_EQ(Found(later, 10), 10);
}

TEST_F(PrefixStoreTest, ASegmentThatCannotBeOpenedGoesWithTheNextFill) {
  PrefixGroup group = Open().Group(GroupNamed('a'), kAbout).value();
  WriteBytes(FolderOf('a') + "/000007.rows", "no segment");
  Fill(group, 0, 3);
  EXPECT_FALSE(fs::exists(FolderOf('a') + "/000007.rows"));
  EXPECT_TRUE(fs::exists(FolderOf('a') + "/000008.rows"));
}

// Three fill and read, one flips bits of whatever is there.
TEST_F(PrefixStoreTest, UnderLoadAndFlippedBitsNoNumberIsWrong) {
  std::atomic<bool> over = false;
  std::thread vandal([&] {
    for (std::size_t i = 0; !over; ++i) {
      std::error_code error;
      for (const auto& each : fs::directory_iterator(FolderOf('a'), error)) {
        if (each.path().extension() != ".rows") continue;
        std::fstream file(each.path(),
                          std::ios::in | std::ios::out | std::ios::binary);
        const auto at = static_cast<std::streamoff>(i * 131 % 3000);
        char byte = 0;
        if (!file.seekg(at).get(byte)) continue;
        file.seekp(at).put(static_cast<char>(byte ^ 16));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 60; ++i) {
        PrefixGroup group = Open().Group(GroupNamed('a'), kAbout).value();
        if (auto filler = GroupFiller::Try(group)) {
          for (std::uint64_t r = 0; r < 100; ++r) {
            if (!group.Has(KeyOf(r))) {
              EXPECT_TRUE(filler->Add(KeyOf(r), RowOf(r)).ok());
            }
          }
          EXPECT_TRUE(filler->Finish().ok());
        }
        Found(group, 100);  // compares each
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  over = true;
  vandal.join();
}

TEST_F(PrefixStoreTest, WhatSavedLeastByByteGoesFirst) {
  Make('a', 50, 10.0, 500.0);
  Make('b', 50, 10.0, 5.0);
  Make('c', 50, 1000.0, 50.0);
  EXPECT_THAT(Names(),
              ElementsAre(GroupNamed('b'), GroupNamed('a'), GroupNamed('c')));
  const std::uint64_t held = Open().List().front().bytes;
  ASSERT_TRUE(Open(3 * held).MakeRoom(held + 100).ok());
  EXPECT_THAT(Names(), ElementsAre(GroupNamed('c')));
}

TEST_F(PrefixStoreTest, WhatIsInUseStays) {
  Make('a', 50, 10.0, 0.0);
  Make('b', 50, 10.0, 500.0);
  PrefixGroup used = Open().Group(GroupNamed('a'), kAbout).value();
  const std::uint64_t held = Open().List().front().bytes;
  ASSERT_TRUE(Open(2 * held).MakeRoom(held - 100).ok());
  EXPECT_THAT(Names(), ElementsAre(GroupNamed('a')));
  EXPECT_EQ(Open().Clear(), 0U);
  EXPECT_EQ(Found(used, 50), 50);
}

TEST_F(PrefixStoreTest, MoreThanItMayHoldIsRefusedAndNothingGoes) {
  Make('a', 50, 10.0, 1.0);
  const Expected<Done> room = Open(1000).MakeRoom(1001);
  ASSERT_FALSE(room.ok());
  EXPECT_EQ(room.fault().kind, FaultKind::kTooLarge);
  EXPECT_THAT(Names(), SizeIs(1));
}

TEST_F(PrefixStoreTest, ClearsAllThatNobodyUses) {
  Make('a', 50, 10.0, 1.0);
  EXPECT_GT(Open().Clear(), 0U);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(PrefixStoreTest, AddsUpWhatRowsWereWorth) {
  Make('a', 10, 2.0, 30.0);
  Open().Group(GroupNamed('a'), kAbout).value().Note({1.0, 5.0, 10.0});
  const GroupWorth worth = PrefixGroup::WorthOf(FolderOf('a'));
  EXPECT_EQ(worth.seconds, 3.0);
  EXPECT_EQ(worth.rows, 15.0);
  EXPECT_EQ(worth.taken, 40.0);
  EXPECT_DOUBLE_EQ(worth.By(100.0), 3.0 / 15.0 * 40.0 / 100.0);
}

TEST_F(PrefixStoreTest, TellsWhatItHasAndMakesNothingWhereNothingIs) {
  EXPECT_FALSE(PrefixStore::Find(folder_.File("prefix")));
  EXPECT_FALSE(fs::exists(folder_.File("prefix")));
  Make('a', 10, 2.0, 30.0);
  const auto found = PrefixStore::Find(folder_.File("prefix"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->List().front().about, kAbout);
}

TEST_F(PrefixStoreTest, IsClosedToOthers) {
  fs::create_directory(folder_.File("prefix"));
  Open();
  for (const char* each : {"prefix", "prefix/v1"}) {
    EXPECT_EQ(fs::status(folder_.File(each)).permissions(),
              fs::perms::owner_all);
  }
}

TEST_F(PrefixStoreTest, WhereNoFolderCanBeIsSaid) {
  WriteBytes(folder_.File("prefix"), "a file");
  const auto store = PrefixStore::Open(folder_.File("prefix"), kMuch);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.fault().kind, FaultKind::kUnreadable);
}

TEST_F(PrefixStoreTest, TakesATenthOfTheFileSystemUnlessTold) {
  const fs::space_info space = fs::space(folder_.path());
  EXPECT_EQ(Open(0).most_bytes(), space.capacity / 10);
}

TEST_F(PrefixStoreTest, WhatOneLeftWhoWasKilledWhileRemovingGoes) {
  Open();
  const std::string left = FolderOf('a') + ".gone.123";
  fs::create_directory(left);
  WriteBytes(left + "/000001.rows", "rows");
  Open();
  EXPECT_FALSE(fs::exists(left));
}

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
      Bytes row(RowOf(place.key.low).size());
      if (!segment.value().Read(place, row).ok()) continue;
      EXPECT_EQ(row, RowOf(place.key.low));
      ++right;
    }
    return right;
  }

  TempFolder folder_;
  const std::string path_ = folder_.File("000001.rows");
};

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
  Bytes row(RowOf(0).size());
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
