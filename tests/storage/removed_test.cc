// SPDX-License-Identifier: Apache-2.0
//
// The files of an open database are removed or replaced: from then on nothing
// is acknowledged, since nobody would ever find it.
#include <filesystem>
#include <fstream>

#include "tests/storage/sqlite_fixture.h"

namespace frostline::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RemovedTest : public SqliteFixture,
                    public testing::WithParamInterface<const char*> {
 protected:
  std::string Victim() const { return DatabaseFile() + GetParam(); }
  absl::Status Write(const std::string& worker) {
    return test::Write(*store_, [&](Transaction& transaction) {
      return transaction.PutWorker(test::FullWorker(worker));
    });
  }
};

TEST_P(RemovedTest, ACommitAfterARemovalIsNotAcknowledged) {
  Open();
  ASSERT_OK(Write("before"));
  ASSERT_OK(store_->Tend());
  fs::remove(Victim());
  const absl::Status lost = Write("after");
  EXPECT_THAT(lost, FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(std::string(lost.message()),
              HasSubstr(Victim() + " was removed"));
  EXPECT_THAT(test::Begin(*store_), FailsWith(ErrorId::kStoreRemoved));
}

TEST_P(RemovedTest, ItIsNoticedWhereNothingIsWritten) {
  Open();
  fs::rename(Victim(), Victim() + ".old");
  EXPECT_THAT(store_->Tend(), FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(store_->Begin(1), FailsWith(ErrorId::kStoreRemoved));
}

TEST_P(RemovedTest, AnotherFileInItsPlaceIsNotTheSame) {
  Open();
  fs::copy_file(Victim(), Victim() + ".copy");
  fs::rename(Victim() + ".copy", Victim());
  const absl::Status replaced = store_->Tend().status();
  EXPECT_THAT(replaced, FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(std::string(replaced.message()), HasSubstr("was replaced"));
}

TEST_P(RemovedTest, ARemovalUnderATransactionIsNoticedAtItsEnd) {
  Open();
  ASSERT_OK_AND_ASSIGN(auto transaction, test::Begin(*store_));
  ASSERT_OK(transaction->PutWorker(test::FullWorker("w")));
  fs::remove(Victim());
  EXPECT_THAT(transaction->Commit(), FailsWith(ErrorId::kStoreRemoved));
}

INSTANTIATE_TEST_SUITE_P(OfEachFile, RemovedTest,
                         testing::Values("", "-wal", "-shm"));

class FolderRemovedTest : public SqliteFixture {};

TEST_F(FolderRemovedTest, AFolderThatIsGoneIsNoticed) {
  Open();
  fs::rename(Folder(), folder_.File("elsewhere"));
  EXPECT_THAT(store_->Tend(), FailsWith(ErrorId::kStoreRemoved));
}

TEST_F(FolderRemovedTest, StartsAreRemembered) {
  Open();
  EXPECT_THAT(store_->NoteStart(100), testing::ElementsAre());
  EXPECT_THAT(store_->NoteStart(200), testing::ElementsAre(100));
  Reopen();
  EXPECT_THAT(store_->NoteStart(300), testing::ElementsAre(100, 200));
  for (WallMicros start = 1000; start < 1200; ++start) store_->NoteStart(start);
  const std::vector<WallMicros> last = store_->NoteStart(2000);
  EXPECT_EQ(last.size(), 128u);
  EXPECT_EQ(last.back(), 1199);
  // What no coordinator wrote is passed over.
  std::ofstream(File("frostline.starts")) << "7\nnot a time\n\n9\n";
  EXPECT_THAT(store_->NoteStart(3000), testing::ElementsAre(7, 9));
  // Where it cannot be written the start goes on.
  fs::create_directories(File("frostline.starts.new/x"));
  EXPECT_THAT(store_->NoteStart(4000), testing::ElementsAre(7, 9, 3000));
}

TEST_F(FolderRemovedTest, TheLeaseKeyIsTheSameInTheNextLife) {
  Open();
  ASSERT_OK_AND_ASSIGN(const SecretString key, store_->LeaseKey());
  Reopen();
  EXPECT_TRUE(*store_->LeaseKey() == key);
  EXPECT_EQ(fs::status(File("frostline.lease-key")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FolderRemovedTest, ALeaseKeyThatOthersMayReadIsRefused) {
  Open();
  ASSERT_OK(store_->LeaseKey());
  fs::permissions(File("frostline.lease-key"), fs::perms::others_read,
                  fs::perm_options::add);
  EXPECT_THAT(store_->LeaseKey(), FailsWith(ErrorId::kStoreUnwritable));
}

TEST_F(FolderRemovedTest, ALeaseKeyThatCannotBeKeptServesThisLife) {
  Open();
  fs::create_directories(File("frostline.lease-key.new/x"));
  EXPECT_OK(store_->LeaseKey());
  EXPECT_FALSE(fs::exists(File("frostline.lease-key")));
}

}  // namespace
}  // namespace frostline::storage
