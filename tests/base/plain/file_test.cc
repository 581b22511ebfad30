// SPDX-License-Identifier: Apache-2.0
#include "base/plain/file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"

namespace frostline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

mode_t ModeOf(const std::string& path) {
  struct stat found{};
  EXPECT_EQ(stat(path.c_str(), &found), 0);
  return found.st_mode & 07777;
}

TEST(AtomicFile, TakesThePlaceOfWhatIsThere) {
  const TempFolder folder;
  const std::string path = folder.File("a");
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  EXPECT_EQ(ReadWholeFile(path, 100).value(), "new");
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("a"));
}

TEST(AtomicFile, HasTheModeThatWasAskedFor) {
  const TempFolder folder;
  const mode_t before = umask(077);
  ASSERT_TRUE(WriteFileAtomically(folder.File("a"), "").ok());
  umask(0);
  ASSERT_TRUE(WriteFileAtomically(folder.File("b"), "", 0600).ok());
  umask(before);
  EXPECT_EQ(ModeOf(folder.File("a")), 0644U);
  EXPECT_EQ(ModeOf(folder.File("b")), 0600U);
}

TEST(AtomicFile, IsNothingUntilItIsCommitted) {
  const TempFolder folder;
  {
    Expected<AtomicFile> file = AtomicFile::Create(folder.File("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file.value().Append("half", 4).ok());
  }
  EXPECT_THAT(NamesIn(folder.path()), IsEmpty());
}

TEST(AtomicFile, LeavesNothingOfAWriterThatIsKilled) {
  const TempFolder folder;
  const pid_t writer = fork();
  if (writer == 0) {
    Expected<AtomicFile> file = AtomicFile::Create(folder.File("a"));
    if (file.ok() && file.value().Append("half", 4).ok()) raise(SIGKILL);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(NamesIn(folder.path()), IsEmpty());
}

TEST(AtomicFile, SaysWhyItCannotBeMade) {
  const TempFolder folder;
  const std::string path = folder.File("no/a");
  const Expected<Done> written = WriteFileAtomically(path, "x");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.fault().system_error, ENOENT);
  EXPECT_EQ(written.fault().cause,
            "cannot create " + path + ": No such file or directory");
}

TEST(FolderOf, IsWhereTheLastNameLies) {
  EXPECT_EQ(FolderOf("a"), ".");
  EXPECT_EQ(FolderOf("/a"), "/");
  EXPECT_EQ(FolderOf("a/b"), "a");
  EXPECT_EQ(FolderOf("/a/b/"), "/a/b");
}

}  // namespace
}  // namespace frostline
