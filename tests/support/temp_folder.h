// SPDX-License-Identifier: Apache-2.0
//
// File: temp_folder.h
//
// A temporary folder that is removed with the object.
#ifndef FROSTLINE_TESTS_SUPPORT_TEMP_FOLDER_H_
#define FROSTLINE_TESTS_SUPPORT_TEMP_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace frostline {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "frostline-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;  // a test may have removed it
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string File(const std::string& name) const {
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace frostline

#endif  // FROSTLINE_TESTS_SUPPORT_TEMP_FOLDER_H_
