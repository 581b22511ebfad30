// SPDX-License-Identifier: Apache-2.0
//
// A byte of the database changes while nobody looks: in every page's header, in
// the file's header, and anywhere. Whatever is read afterwards is what was
// written, or an error that says what is damaged.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "tests/fault/storage/power_cut_fixture.h"
#include "tests/storage/sqlite_fixture.h"

namespace frostline::test {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kFileHeader = 100;
constexpr std::size_t kPageHeader = 12;
constexpr int kFlipsElsewhere = 500;

absl::StatusOr<std::vector<std::string>> ReadEverything(
    const storage::TrialStore& store) {
  std::vector<std::string> texts;
  const auto add = [&](const std::vector<std::string>& more) {
    texts.insert(texts.end(), more.begin(), more.end());
  };
  ASSIGN_OR_RETURN(const auto studies, store.ListStudies({}));
  add(Texts(studies));
  ASSIGN_OR_RETURN(const auto study, store.FindStudy("imdb"));
  texts.push_back(Text(study));
  for (const auto order : {storage::TrialQuery::Order::kNumber,
                           storage::TrialQuery::Order::kRevision}) {
    storage::TrialQuery query = TrialsOf(1, 1000);
    query.order = order;
    ASSIGN_OR_RETURN(const auto trials, store.ListTrials(query));
    add(Texts(trials));
    query.states = {TrialState::kRunning};
    ASSIGN_OR_RETURN(const auto running, store.ListTrials(query));
    add(Texts(running));
  }
  ASSIGN_OR_RETURN(const auto attempts, store.ListAttempts(1, 0));
  add(Texts(attempts));
  ASSIGN_OR_RETURN(const auto measurements,
                   store.ListMeasurements({.study = 1, .attempt = 1}));
  add(Texts(measurements));
  ASSIGN_OR_RETURN(const auto outcome, store.FindOutcome(1, 0));
  texts.push_back(outcome.has_value() ? Text(*outcome) : "none");
  ASSIGN_OR_RETURN(const auto log, store.FindLog(1, 0, 1));
  texts.push_back(log.has_value() ? Text(*log) : "none");
  ASSIGN_OR_RETURN(const auto workers, store.ListWorkers("", 100));
  add(Texts(workers));
  ASSIGN_OR_RETURN(const auto reply, store.FindReply("r"));
  texts.push_back(reply.has_value() ? Text(*reply) : "none");
  return texts;
}

class FlipTest : private MemoryFolderIsPreferred,
                 public storage::SqliteFixture {
 protected:
  FlipTest() { SetLogLevel(static_cast<LogLevel>(4)); }
  ~FlipTest() override { SetLogLevel(LogLevel::kInfo); }

  void SetUp() override {
    limits_.ballast_bytes = 4096;
    Open();
    FillAllTables(60);
    ASSERT_OK_AND_ASSIGN(truth_, ReadEverything(*store_));
    Close();
    std::ostringstream all;
    all << std::ifstream(DatabaseFile(), std::ios::binary).rdbuf();
    good_ = all.str();
  }

  // Whether anybody noticed.
  bool IsFound(std::size_t offset, char flipped) {
    SCOPED_TRACE(testing::Message()
                 << "offset " << offset << " of " << good_.size() << " ^ "
                 << static_cast<int>(flipped));
    std::string bad = good_;
    bad[offset] = static_cast<char>(bad[offset] ^ flipped);
    std::ofstream(DatabaseFile(), std::ios::binary) << bad;
    std::filesystem::remove(DatabaseFile() + "-wal");
    std::filesystem::remove(DatabaseFile() + "-shm");
    const auto store = storage::SqliteStore::Open(Folder(), limits_);
    const auto rows = store.ok() ? ReadEverything(**store) : store.status();
    if (rows.ok()) {
      const auto [is, was] = std::mismatch(rows->begin(), rows->end(),
                                           truth_.begin(), truth_.end());
      EXPECT_TRUE(was == truth_.end() && is == rows->end())
          << rows->size() << " rows, not " << truth_.size() << ": "
          << (is == rows->end() ? "" : *is);
      return false;
    }
    EXPECT_TRUE(DetailOf(rows.status()).has_value()) << rows.status();
    EXPECT_FALSE(HasErrorId(rows.status(), ErrorId::kInternal))
        << rows.status();
    return true;
  }

  std::vector<std::string> truth_;
  std::string good_;
};

TEST_F(FlipTest, InTheHeadersOfFileAndPages) {
  Rng rng(1);
  int found = 0;
  for (std::size_t page = 0; page < good_.size(); page += kPage) {
    const std::size_t end =
        page == 0 ? kFileHeader + kPageHeader : page + kPageHeader;
    for (std::size_t at = page; at < end && !HasFailure(); ++at) {
      const auto flipped = static_cast<char>(1 + rng.Below(255));
      if (IsFound(at, flipped)) ++found;
    }
  }
  EXPECT_GT(found, 100);
}

TEST_F(FlipTest, Anywhere) {
  Rng rng(2);
  int found = 0;
  const int flips = FaultCount(kFlipsElsewhere);
  for (int i = 0; i < flips && !HasFailure(); ++i) {
    const std::size_t at = rng.Below(good_.size());
    if (IsFound(at, static_cast<char>(1 << rng.Below(8)))) ++found;
  }
  EXPECT_GT(found, flips / 10);
}

}  // namespace
}  // namespace frostline::test
