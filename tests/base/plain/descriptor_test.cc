// SPDX-License-Identifier: Apache-2.0
#include "base/plain/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace frostline {
namespace {

TEST(Descriptor, ClosesAndLeavesErrno) {
  int number = -1;
  {
    const Descriptor opened(open("/dev/null", O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(opened.ok());
    number = opened.number();
    errno = ENOSPC;
  }
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
  EXPECT_FALSE(Descriptor().ok());
}

TEST(Descriptor, WritesAllThoughAPipeTakesAPart) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  const std::string sent(1 << 20, 'x');
  std::string got;
  std::thread reader([&] {
    std::array<char, 4096> part;
    for (ssize_t n; (n = read(out.number(), part.data(), part.size())) > 0;) {
      got.append(part.data(), static_cast<std::size_t>(n));
    }
  });
  EXPECT_TRUE(WriteAll(in.number(), sent));
  in.Close();
  reader.join();
  EXPECT_EQ(got, sent);
}

TEST(Descriptor, SaysWhyNothingWasWritten) {
  const Descriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_FALSE(WriteAll(full.number(), "x"));
  EXPECT_EQ(errno, ENOSPC);
}

// Two openings of one file, as two processes have.
TEST(Descriptor, OneHoldsALockAloneOrManyShareIt) {
  const TempFolder folder;
  const std::string path = folder.File("lock");
  const auto opened = [&path] {
    return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  };
  const Descriptor one(opened());
  const Descriptor other(opened());
  ASSERT_TRUE(TakeLock(one.number(), LockKind::kShared, LockWait::kTry));
  EXPECT_TRUE(TakeLock(other.number(), LockKind::kShared, LockWait::kTry));
  EXPECT_FALSE(TakeLock(one.number(), LockKind::kAlone, LockWait::kTry));
  EXPECT_EQ(errno, EWOULDBLOCK);
}

TEST(Descriptor, AwaitsALockUntilItsHolderEnds) {
  const TempFolder folder;
  const std::string path = folder.File("lock");
  const auto opened = [&path] {
    return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  };
  Descriptor holder(opened());
  const Descriptor next(opened());
  ASSERT_TRUE(TakeLock(holder.number(), LockKind::kAlone, LockWait::kTry));
  std::thread end([&holder] { holder.Close(); });
  EXPECT_TRUE(TakeLock(next.number(), LockKind::kAlone, LockWait::kAwait));
  end.join();
}

TEST(Descriptor, SyncsNamesOfAFolderThatIsThere) {
  const TempFolder folder;
  EXPECT_TRUE(SyncNames(folder.path()));
  EXPECT_FALSE(SyncNames(folder.File("nowhere")));
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace frostline
