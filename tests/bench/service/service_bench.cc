// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/service/service_bench.h"

#include <sys/vfs.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"

namespace frostline::bench {
namespace {

namespace fs = std::filesystem;

// What statfs() calls the file systems one meets.
std::string FileSystemOf(const std::string& folder) {
  struct statfs found{};
  if (statfs(folder.c_str(), &found) != 0) return "unknown";
  switch (static_cast<unsigned long>(found.f_type)) {
    case 0xEF53:
      return "ext4";
    case 0x58465342:
      return "xfs";
    case 0x9123683E:
      return "btrfs";
    case 0x01021994:
      return "tmpfs, which is no disk: set TMPDIR";
    case 0x794c7630:
      return "overlayfs";
    default:
      return absl::StrCat("0x", absl::Hex(found.f_type));
  }
}

// $TMPDIR if set, else the working folder: /tmp is often no disk.
std::string MakeFolder() {
  const char* const wanted = std::getenv("TMPDIR");
  const fs::path base =
      wanted != nullptr ? fs::path(wanted) : fs::current_path();
  std::string pattern = (base / "frostline-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    std::cerr << "no folder can be made in " << base << "\n";
    std::exit(1);
  }
  return pattern;
}

}  // namespace

void Demand(const absl::Status& status, const std::string& what) {
  if (status.ok()) return;
  std::cerr << what << ": " << DescribeError(status) << "\n";
  std::exit(1);
}

std::string CreateStudy(AdminClient& admin, const std::string& id,
                        std::int64_t trials) {
  const auto created =
      admin.Call(admin.studies(), &v1::StudyService::Stub::CreateStudy,
                 LoadStudy(id, trials, kParameters));
  Demand(created.status(), "creating a study");
  return StudyNameOf(id);
}

ServiceBench::ServiceBench(const Bench& bench)
    : bench_(bench), folder_(MakeFolder()) {
  RaiseOpenFiles();  // coordinators inherit it
  std::cout << "data in " << folder_ << ", on " << FileSystemOf(folder_)
            << std::endl;
}

ServiceBench::~ServiceBench() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string ServiceBench::NewFolder() {
  return absl::StrCat(folder_, "/", ++folders_);
}

std::unique_ptr<CoordinatorProgram> ServiceBench::StartCoordinator() {
  auto coordinator = std::make_unique<CoordinatorProgram>(
      CoordinatorSpec{.data = NewFolder()});
  if (!coordinator->Start()) {
    std::cerr << "the coordinator does not start:\n"
              << coordinator->program().Log();
    std::exit(1);
  }
  return coordinator;
}

std::unique_ptr<LoadRun> ServiceBench::Run(LoadOptions options) const {
  auto run = std::make_unique<LoadRun>(std::move(options), clock_);
  run->Start();
  run->Wait(std::chrono::minutes(10));
  run->Stop();
  for (const auto& [id, count] : run->figures().errors()) {
    std::cout << "errors: " << id << " " << count << std::endl;
  }
  return run;
}

double ServiceBench::PerSecond(std::int64_t count, const LoadRun& run) {
  return static_cast<double>(count) /
         std::chrono::duration<double>(run.measured()).count();
}

namespace {

// The service as its users meet it: the real coordinator on a real disk, and
// thousands of virtual workers. FROSTLINE_BENCH_CHAPTER=parked measures one
// chapter alone.

struct Chapter {
  const char* name;
  void (*measure)(ServiceBench&);
};
constexpr Chapter kChapters[] = {
    {"start", MeasureStart},     {"cycles", MeasureCycles},
    {"reports", MeasureReports}, {"busy", MeasureBusy},
    {"parked", MeasureParked},   {"history", MeasureHistory},
    {"judging", MeasureJudging}, {"stored", MeasureStoredTrials},
    {"mtls", MeasureMtls},       {"door", MeasureFrontDoor},
    {"flood", MeasureFlood},     {"scale", MeasureScale}};

void Run(const Bench& bench) {
  const char* const only = std::getenv("FROSTLINE_BENCH_CHAPTER");
  ServiceBench service(bench);
  for (const Chapter& chapter : kChapters) {
    if (only == nullptr || std::string(only) == chapter.name) {
      chapter.measure(service);
    }
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  const frostline::bench::Bench bench(argc, argv);
  frostline::bench::Run(bench);
}
