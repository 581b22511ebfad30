// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/placing.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::registry {
namespace {

namespace fs = std::filesystem;

absl::Status CannotWrite(const fs::path& path, const std::error_code& error) {
  return MakeError(ErrorId::kStoreUnwritable,
                   absl::StrCat(path.string(), ": ", error.message()),
                   "name a folder that can be written and has room: "
                   "--registry DIR");
}

}  // namespace

absl::StatusOr<Placing> Placing::Into(const std::string& folder) {
  std::error_code error;
  const bool is_new = !fs::exists(folder, error);
  fs::create_directories(folder, error);
  if (error) return CannotWrite(folder, error);
  const std::string whole = fs::canonical(folder, error).string();
  const int lock = open(whole.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (error || lock < 0) {
    return CannotWrite(folder, std::error_code(errno, std::generic_category()));
  }
  flock(lock, LOCK_EX);  // closing it unlocks
  Placing placing(whole, lock);
  if (is_new) placing.made_.emplace_back(placing.folder_);
  return placing;
}

Placing::Placing(Placing&& other) noexcept
    : folder_(std::move(other.folder_)),
      lock_(std::exchange(other.lock_, -1)),
      made_(std::exchange(other.made_, {})) {}

Placing::~Placing() {
  std::error_code ignored;  // what cannot be removed stays, and does no harm
  std::reverse(made_.begin(), made_.end());
  for (const fs::path& path : made_) fs::remove(path, ignored);
  if (lock_ >= 0) close(lock_);
}

std::string Placing::Below(const std::string& path) const {
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  if (error) return "";
  const fs::path relative = whole.lexically_relative(folder_);
  if (relative.empty() || *relative.begin() == "..") return "";
  return relative.string();
}

absl::StatusOr<fs::path> Placing::Prepare(const std::string& to) {
  fs::path at = folder_;
  std::error_code error;
  for (const fs::path& part : fs::path(to).parent_path()) {
    at /= part;
    if (fs::create_directory(at, error)) made_.push_back(at);
    if (error) return CannotWrite(at, error);
  }
  at = fs::path(folder_) / to;
  if (fs::exists(at, error)) {
    return MakeError(ErrorId::kStoreUnwritable,
                     absl::StrCat(at.string(), " is there already"),
                     "give another --id, or remove it");
  }
  made_.push_back(at);
  return at;
}

absl::Status Placing::Copy(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const fs::path target, Prepare(to));
  std::error_code error;
  fs::copy_file(from, target, error);
  return error ? CannotWrite(target, error) : absl::OkStatus();
}

absl::Status Placing::Link(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const fs::path target, Prepare(to));
  std::error_code error;
  // A link to a link would lead out of the folder.
  fs::create_hard_link(fs::canonical(from, error), target, error);
  if (!error) return absl::OkStatus();
  fs::copy_file(from, target, error);
  return error ? CannotWrite(target, error) : absl::OkStatus();
}

}  // namespace frostline::registry
