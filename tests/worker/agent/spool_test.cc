// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/agent/file.h"
#include "worker/agent/link/outbox.h"

namespace frostline::agent {
namespace {

v1::LeaseRef Ref() {
  v1::LeaseRef ref;
  ref.set_trial("studies/a/trials/7");
  ref.set_attempt(2);
  ref.set_secret("s");
  return ref;
}

v1::ReportRequest Report(std::int64_t sequence) {
  v1::ReportRequest report;
  *report.mutable_lease() = Ref();
  report.set_sequence(sequence);
  (*report.add_measurements()->mutable_metrics())["loss"] = 0.5;
  return report;
}

v1::FinishRequest Finish() {
  v1::FinishRequest finish;
  *finish.mutable_lease() = Ref();
  finish.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
  return finish;
}

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Spool, GivesBackWhatItTookInOrder) {
  const TempFolder folder;
  const std::string path = folder.File("x.spool");
  {
    ASSERT_OK_AND_ASSIGN(auto file, SpoolFile::Create(path, Ref()));
    ASSERT_OK(file->Append(Report(1)));
    ASSERT_OK(file->Append(Report(2)));
    ASSERT_OK(file->Append(Finish()));
  }
  SpoolContent content;
  ASSERT_OK_AND_ASSIGN(const auto file, SpoolFile::Reopen(path, &content));
  EXPECT_EQ(content.lease.secret(), "s");
  EXPECT_EQ(content.reports, 2);
  for (const int sequence : {1, 2}) {
    ASSERT_OK_AND_ASSIGN(const auto record, file->ReadNext());
    EXPECT_EQ(std::get<v1::ReportRequest>(record).sequence(), sequence);
  }
  ASSERT_TRUE(content.ending.has_value());
  EXPECT_EQ(std::get<v1::FinishRequest>(*content.ending).outcome().kind(),
            v1::Outcome::SUCCEEDED);
}

TEST(Spool, IsReadableByItsOwnerAlone) {
  const TempFolder folder;
  ASSERT_OK(SpoolFile::Create(folder.File("x.spool"), Ref()));
  struct stat info{};
  ASSERT_EQ(stat(folder.File("x.spool").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

// Cut at every single byte: whole records survive, and more can be appended.
TEST(Spool, ATornTailCostsOnlyItself) {
  const TempFolder folder;
  const std::string path = folder.File("x.spool");
  const std::string head = kSpoolHead + EncodeLease(Ref());
  const std::string first = EncodeRecord(Report(1));
  const std::string whole = head + first + EncodeRecord(Report(2));
  for (std::size_t cut = head.size(); cut < whole.size(); ++cut) {
    Write(path, whole.substr(0, cut));
    SpoolContent content;
    {
      ASSERT_OK_AND_ASSIGN(auto file, SpoolFile::Reopen(path, &content));
      ASSERT_EQ(content.reports, cut < head.size() + first.size() ? 0 : 1);
      ASSERT_OK(file->Append(Finish()));
    }
    SpoolContent again;
    ASSERT_OK(SpoolFile::Reopen(path, &again));
    ASSERT_EQ(again.reports, content.reports) << cut;
    ASSERT_TRUE(again.ending.has_value()) << cut;
  }
}

TEST(Spool, ADamagedRecordEndsTheFile) {
  const TempFolder folder;
  const std::string path = folder.File("x.spool");
  const std::string head = kSpoolHead + EncodeLease(Ref());
  std::string whole = head + EncodeRecord(Report(1)) + EncodeRecord(Report(2));
  whole[whole.size() - 3] ^= 1;
  Write(path, whole);
  SpoolContent content;
  ASSERT_OK(SpoolFile::Reopen(path, &content));
  EXPECT_EQ(content.reports, 1);
}

// Whatever byte of it is damaged, its length too.
TEST(Spool, ADamagedRecordHidesNoneBehindIt) {
  const TempFolder folder;
  const std::string path = folder.File("x.spool");
  const std::string before =
      kSpoolHead + EncodeLease(Ref()) + EncodeRecord(Report(1));
  const std::string damaged = EncodeRecord(Report(2));
  const std::string behind = EncodeRecord(Report(3)) + EncodeRecord(Finish());
  for (std::size_t at = 0; at < damaged.size(); ++at) {
    SCOPED_TRACE(at);
    std::string whole = before + damaged + behind;
    whole[before.size() + at] ^= 0x41;
    Write(path, whole);
    SpoolContent content;
    ASSERT_OK_AND_ASSIGN(const auto file, SpoolFile::Reopen(path, &content));
    ASSERT_EQ(content.reports, 2);
    for (const int sequence : {1, 3}) {
      ASSERT_OK_AND_ASSIGN(const auto record, file->ReadNext());
      ASSERT_EQ(std::get<v1::ReportRequest>(record).sequence(), sequence);
    }
    ASSERT_TRUE(content.ending.has_value());
    ASSERT_EQ(std::filesystem::file_size(path), whole.size());
  }
}

TEST(Spool, WhatIsNoSpoolIsRefusedAndLeftAlone) {
  const TempFolder folder;
  for (const std::string& bytes :
       {std::string(), std::string("hello"), std::string(kSpoolHead),
        kSpoolHead + std::string(8, '\xFF'), std::string(1000, '\0')}) {
    Write(folder.File("x.spool"), bytes);
    SpoolContent content;
    EXPECT_THAT(SpoolFile::Reopen(folder.File("x.spool"), &content),
                FailsWith(ErrorId::kStoreCorrupt));
    EXPECT_EQ(*ReadFile(folder.File("x.spool")), bytes);
  }
}

// The child says on a pipe what was acknowledged to it, and is killed while it
// appends; every acknowledged record must be there.
TEST(Spool, SurvivesKillNineWhileAppending) {
  const TempFolder folder;
  for (int round = 0; round < 10; ++round) {
    const std::string path = folder.File("x.spool");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto file = SpoolFile::Create(path, Ref());
      for (char i = 1; i < 100 && file.ok() && (*file)->Append(Report(i)).ok();
           ++i) {
        if (write(ends[1], &i, 1) != 1) break;
      }
      pause();
    }
    char acknowledged = 0;
    for (int i = 0; i <= 3 * round; ++i) {
      ASSERT_EQ(read(ends[0], &acknowledged, 1), 1);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ends[1]);
    while (read(ends[0], &acknowledged, 1) == 1) {
    }
    close(ends[0]);
    SpoolContent content;
    ASSERT_OK(SpoolFile::Reopen(path, &content));
    EXPECT_GE(content.reports, acknowledged);
  }
}

TEST(Outbox, ClosesWithItsEndingAndRemovesItsFile) {
  const TempFolder folder;
  const std::string path = folder.File("x.spool");
  ASSERT_OK_AND_ASSIGN(auto file, SpoolFile::Create(path, Ref()));
  Wakeup wakeup;
  Outbox outbox(Ref(), std::move(file), &wakeup);
  outbox.Add(Report(1));
  outbox.PopFront();
  EXPECT_FALSE(outbox.done());  // more may come
  outbox.Add(Finish());
  outbox.Add(Report(2));  // too late: not taken
  EXPECT_TRUE(std::filesystem::exists(path));
  outbox.PopFront();
  EXPECT_TRUE(outbox.done());
  EXPECT_TRUE(wakeup.WaitFor(Duration()));
  EXPECT_FALSE(std::filesystem::exists(path));
}

// Memory holds the first of forty reports; one of the others is damaged while
// it waits in the file.
TEST(Outbox, ARecordThatIsDamagedInTheFileCostsOnlyItself) {
  constexpr int kReports = 40;
  const TempFolder folder;
  const std::string path = folder.File("x.spool");
  ASSERT_OK_AND_ASSIGN(auto file, SpoolFile::Create(path, Ref()));
  Outbox outbox(Ref(), std::move(file), nullptr);
  std::uintmax_t damaged = 0;
  for (int i = 0; i < kReports; ++i) {
    v1::ReportRequest report = Report(i + 1);
    report.mutable_measurements(0)->set_step(i);
    (*report.mutable_measurements(0)
          ->mutable_metrics())[std::string(40000, 'm')] = 0.5;
    if (i == 30) damaged = std::filesystem::file_size(path);
    outbox.Add(report);
  }
  outbox.Add(Finish());
  {
    std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(damaged));
    bytes.write("\xFF\xFF\xFF\xFF", 4);
  }
  std::vector<std::int64_t> steps;
  int endings = 0;
  for (auto front = outbox.Front(); front.has_value(); front = outbox.Front()) {
    if (outbox.FrontIsEnding()) ++endings;
    if (const auto* report = std::get_if<v1::ReportRequest>(&*front)) {
      EXPECT_EQ(endings, 0);
      for (const auto& one : report->measurements()) {
        steps.push_back(one.step());
      }
    }
    outbox.PopFront();
  }
  EXPECT_EQ(endings, 1);
  EXPECT_TRUE(outbox.done());
  std::vector<std::int64_t> expected(kReports);
  std::iota(expected.begin(), expected.end(), 0);
  expected.erase(expected.begin() + 30);
  EXPECT_EQ(steps, expected);
}

TEST(Outbox, GoesOnInMemoryWhenTheDiskRefuses) {
  Outbox outbox(Ref(), nullptr, nullptr);
  outbox.Add(Report(1));
  outbox.Add(Finish());
  EXPECT_TRUE(outbox.Front().has_value());
  outbox.DropReports();
  EXPECT_TRUE(std::holds_alternative<v1::FinishRequest>(*outbox.Front()));
}

TEST(Outbox, AnAbandonedFileIsKeptWhereAsked) {
  const TempFolder folder;
  ASSERT_OK_AND_ASSIGN(auto file,
                       SpoolFile::Create(folder.File("x.spool"), Ref()));
  Outbox outbox(Ref(), std::move(file), nullptr);
  outbox.Add(Finish());
  outbox.Abandon(folder.File("rejected"));
  EXPECT_TRUE(outbox.done());
  EXPECT_TRUE(std::filesystem::exists(folder.File("rejected/x.spool")));
}

}  // namespace
}  // namespace frostline::agent
