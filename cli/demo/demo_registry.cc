// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_registry.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/sums.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kModel[] = "minilm";
constexpr char kWeights[] = "model.safetensors";
constexpr std::array<const char*, 3> kModelFiles = {"config.json", kWeights,
                                                    "tokenizer.json"};

std::string FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path CacheFolder() {
  const std::string own = FromEnvironment("FROSTLINE_CACHE");
  if (!own.empty()) return own;
  const std::string all = FromEnvironment("XDG_CACHE_HOME");
  if (!all.empty()) return fs::path(all) / "frostline";
  return fs::path(FromEnvironment("HOME")) / ".cache" / "frostline";
}

absl::Status CannotWrite(const fs::path& path, const std::string& why,
                         int error) {
  const std::string cause = absl::StrCat(path.string(), ": ", why);
  return DiskErrorOr(
      error, cause,
      MakeError(ErrorId::kStoreUnwritable, cause,
                "name a folder with room for 100 MB with --dir DIR"));
}

absl::Status Write(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file ? absl::OkStatus()
              : CannotWrite(path, "could not be written", errno);
}

// Links a file, or copies it: a hard link needs the same file system and, on
// most systems, the same owner.
absl::Status LinkOrCopy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::remove(to, error);
  fs::create_hard_link(fs::canonical(from, error), to, error);
  if (!error) return absl::OkStatus();
  fs::copy_file(from, to, error);
  return error ? CannotWrite(to, error.message(), error.value())
               : absl::OkStatus();
}

std::string SumOf(std::string_view text) {
  Sha256Sum sum;
  sum.Add(text);
  return sum.Finish();
}

absl::StatusOr<std::string> SumOfFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(1 << 20);
  Sha256Sum sum;
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())),
         file.gcount() > 0) {
    sum.Add({buffer.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.eof()) return sum.Finish();
  return MakeError(ErrorId::kTrainerFile,
                   absl::StrCat(path.string(), ": cannot be read"),
                   "remove its folder and run ./dev setup again");
}

std::string SplitEntry(const char* split, std::string_view text) {
  return absl::StrCat("    ", split, ":\n      path: reviews/", split,
                      ".tsv\n      sha256: ", SumOf(text), "\n");
}

}  // namespace

absl::StatusOr<std::string> FindDemoModel(const std::string& named) {
  const fs::path folder =
      named.empty() ? CacheFolder() / kDemoModelFolder : fs::path(named);
  std::error_code ignored;  // what cannot be looked at is not there
  for (const char* const file : kModelFiles) {
    if (fs::is_regular_file(folder / file, ignored)) continue;
    return MakeError(
        ErrorId::kTrainerFile,
        absl::StrCat("the demo's model is not there: no ", file, " in ",
                     folder.string()),
        "run ./dev setup, which fetches it (84 MB), or name its folder with "
        "--model DIR; `frostline demo --synthetic` needs no model");
  }
  return folder.string();
}

absl::Status MakeDemoRegistry(const std::string& folder,
                              const std::string& model) {
  const fs::path root = folder;
  std::error_code error;
  for (const char* const below : {kModel, "reviews"}) {
    fs::create_directories(root / below, error);
    if (error) return CannotWrite(root / below, error.message(), error.value());
  }
  for (const char* const file : kModelFiles) {
    RETURN_IF_ERROR(LinkOrCopy(fs::path(model) / file, root / kModel / file));
  }
  RETURN_IF_ERROR(Write(root / "reviews/train.tsv", kDemoTrain));
  RETURN_IF_ERROR(Write(root / "reviews/validation.tsv", kDemoValidation));
  ASSIGN_OR_RETURN(const std::string weights,
                   SumOfFile(root / kModel / kWeights));
  RETURN_IF_ERROR(Write(
      root / "models.yaml",
      absl::StrCat(kModel, ":\n  path: ", kModel, "\n  weights: ", kWeights,
                   "\n  sha256: ", weights, "\n")));
  return Write(root / "datasets.yaml",
               absl::StrCat("demo-reviews:\n  task: classification\n"
                            "  format: tsv\n  splits:\n",
                            SplitEntry("train", kDemoTrain),
                            SplitEntry("validation", kDemoValidation)));
}

}  // namespace frostline::cli
