// SPDX-License-Identifier: Apache-2.0
//
// The coordinator's disk is full while a fleet is at work: what is running may
// still end, nothing acknowledged is lost, and when there is room again it all
// goes on by itself.
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/fault/harness.h"

namespace frostline::test {
namespace {

using std::chrono::milliseconds;

class DiskTest : public FaultTest {
 protected:
  // A file system of the test's own where the data will be. It is in memory,
  // but holds only what is written.
  void SetUp() override {
    data_ = folder_.File("data");
    std::filesystem::create_directory(data_);
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", data_.c_str(), "tmpfs", 0, kRoomy) != 0) {
      GTEST_SKIP() << "no right to mount a file system";
    }
    mounted_ = true;
    std::filesystem::permissions(data_, std::filesystem::perms::owner_all);
  }
  void TearDown() override {
    FaultTest::TearDown();
    if (!mounted_) return;
    coordinator_.reset();
    umount2(data_.c_str(), MNT_DETACH);
  }

  // From now on there are `left` bytes. The coordinator may write between the
  // look and the change, and the kernel refuses less than what is used: then
  // it is looked again.
  void Shrink(std::int64_t left) const {
    ASSERT_TRUE(Eventually([this, left] {
      return Resize(absl::StrCat("mode=700,size=", Used() + left));
    }));
  }
  void GiveRoom() const { ASSERT_TRUE(Resize(kRoomy)); }

  bool IsStudyRefused() {
    const auto created =
        admin_->Call(admin_->studies(), &v1::StudyService::Stub::CreateStudy,
                     bench::LoadStudy("t", 10, 3));
    return HasErrorId(created.status(), ErrorId::kStoreFull);
  }

  std::string data_;
  bool mounted_ = false;

 private:
  static constexpr char kRoomy[] = "mode=700,size=4g";

  std::int64_t Used() const {
    struct statvfs room{};
    EXPECT_EQ(statvfs(data_.c_str(), &room), 0);
    return static_cast<std::int64_t>((room.f_blocks - room.f_bfree) *
                                     room.f_frsize);
  }

  bool Resize(const std::string& options) const {
    return mount("none", data_.c_str(), "tmpfs", MS_REMOUNT, options.c_str()) ==
           0;
  }
};

TEST_F(DiskTest, AFullDiskStopsTheFleetAndRoomStartsItAgain) {
  Boot({"--lease-ttl", "30s"});
  const pid_t before = coordinator_->program().pid();
  const std::string study = Create("s", FaultCount(400, 5'000));
  bench::LoadOptions fleet = Fleet(study, 10);
  fleet.measurements = 200;  // soon more than the ballast
  bench::LoadRun run(fleet, clock_);
  run.Start();
  for (const std::int64_t left : {0, 300'000, 1'500'000}) {
    ASSERT_TRUE(Eventually([&run] { return run.held() > 5; }));
    ASSERT_NO_FATAL_FAILURE(Shrink(left));
    ++record_["full_disks"];
    std::this_thread::sleep_for(milliseconds(1500));
    EXPECT_OK(admin_->GetStudy(study));  // still reads
    EXPECT_TRUE(IsStudyRefused());
    GiveRoom();
  }
  ExpectCompleted(run, study, Patience());
  EXPECT_EQ(coordinator_->program().pid(), before);
}

TEST_F(DiskTest, ATrialThatRunsMayEndOnAFullDisk) {
  Boot({"--lease-ttl", "30s"});
  const std::string study = Create("s", 8);
  bench::LoadOptions fleet = Fleet(study, 8);
  fleet.think = milliseconds(400);
  bench::LoadRun run(fleet, clock_);
  run.Start();
  ASSERT_TRUE(Eventually([&run] { return run.held() == 8; }));
  ASSERT_NO_FATAL_FAILURE(Shrink(0));
  ++record_["full_disks"];
  ExpectCompleted(run, study);  // and the disk is still full
}

TEST_F(DiskTest, WhatIsRefusedForWantOfRoomIsDoneWhenThereIsSome) {
  Boot();
  const std::string study = Create("s", 10);
  ASSERT_NO_FATAL_FAILURE(Shrink(0));
  ++record_["full_disks"];
  absl::Status imported;
  for (int i = 0; i < 200 && imported.ok(); ++i) {
    imported =
        admin_
            ->Call(admin_->studies(), &v1::StudyService::Stub::ImportTrials,
                   bench::LoadHistory(study, 500, 3))
            .status();
  }
  EXPECT_THAT(imported, FailsWith(ErrorId::kStoreFull));
  GiveRoom();
  EXPECT_TRUE(Eventually([this] { return !IsStudyRefused(); }));
  EXPECT_OK(admin_->Call(admin_->studies(),
                         &v1::StudyService::Stub::ImportTrials,
                         bench::LoadHistory(study, 500, 3)));
}

}  // namespace
}  // namespace frostline::test
