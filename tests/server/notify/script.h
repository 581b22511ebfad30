// SPDX-License-Identifier: Apache-2.0
//
// File: script.h
//
// A shell script that can be run.
#ifndef FROSTLINE_TESTS_SERVER_NOTIFY_SCRIPT_H_
#define FROSTLINE_TESTS_SERVER_NOTIFY_SCRIPT_H_

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace frostline::server {

inline std::string WriteScript(const std::string& path,
                               const std::string& body) {
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

inline std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_NOTIFY_SCRIPT_H_
