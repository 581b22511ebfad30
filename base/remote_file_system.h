// SPDX-License-Identifier: Apache-2.0
//
// File: remote_file_system.h
//
// Knows the file systems that are reached over a network.
#ifndef FROSTLINE_BASE_REMOTE_FILE_SYSTEM_H_
#define FROSTLINE_BASE_REMOTE_FILE_SYSTEM_H_

#include <cstdint>

namespace frostline {

// Returns the name of a file system whose locks a database cannot rely on, by
// the number that statfs(2) gives; null for any other.
const char* RemoteFileSystem(std::uint64_t magic);

}  // namespace frostline

#endif  // FROSTLINE_BASE_REMOTE_FILE_SYSTEM_H_
