// SPDX-License-Identifier: Apache-2.0
//
// A process to be killed: does one thing to a data folder, and says on standard
// output what it was told OK, a number to a line.
//
//   storage_victim FOLDER write        transactions, until the disk is full
//   storage_victim FOLDER backup FILE
//   storage_victim FOLDER restore FILE
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/error.h"
#include "storage/factory.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/contract/full_rows.h"

namespace frostline::test {
namespace {

constexpr int kTransactions = 60;

storage::StoreLimits Small() {
  return storage::StoreLimits{.ballast_bytes = 65536,
                              .pages_per_checkpoint = 20};
}

absl::Status WriteTrials(storage::TrialStore& store) {
  const bool is_new = !store.FindStudy("imdb").ok();
  if (is_new) {
    const absl::Status status =
        Write(store, [](storage::Transaction& transaction) {
          return transaction.InsertStudy(FullStudy("imdb")).status();
        });
    if (!status.ok()) return status;
  }
  const auto there = store.ListTrials(TrialsOf(1, 100'000));
  if (!there.ok()) return there.status();
  auto number = static_cast<std::int64_t>(there->size());
  for (int i = 0; i < kTransactions; ++i, ++number) {
    const absl::Status status =
        Write(store, [&](storage::Transaction& transaction) {
          return transaction.InsertTrial(FullTrial(1, number));
        });
    if (!status.ok()) return status;
    std::printf("%lld\n", static_cast<long long>(number));
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

absl::Status Run(const std::string& folder, const std::string& what,
                 const std::string& file) {
  if (what == "restore") return storage::RestoreStore(file, folder).status();
  const auto store =
      storage::OpenStore({.data_folder = folder, .limits = Small()});
  if (!store.ok()) return store.status();
  if (what == "backup") return (*store)->Backup(file).status();
  return WriteTrials(**store);
}

}  // namespace
}  // namespace frostline::test

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const absl::Status status = frostline::test::Run(
      arguments[1], arguments[2], count > 3 ? arguments[3] : "");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", frostline::DescribeError(status).c_str());
  return 1;
}
