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

TEST(Descriptor, SyncsNamesOfAFolderThatIsThere) {
  const TempFolder folder;
  EXPECT_TRUE(SyncNames(folder.path()));
  EXPECT_FALSE(SyncNames(folder.File("nowhere")));
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace frostline
