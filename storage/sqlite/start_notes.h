// SPDX-License-Identifier: Apache-2.0
//
// File: start_notes.h
//
// When coordinators started on a data folder, as lines of a file: microseconds
// since 1970, the latest last.
#ifndef FROSTLINE_STORAGE_SQLITE_START_NOTES_H_
#define FROSTLINE_STORAGE_SQLITE_START_NOTES_H_

#include <string>
#include <vector>

#include "base/clock.h"

namespace frostline::storage {

// Adds `now` and returns what was there, the last 128 at most. A file that
// cannot be read is empty; one that cannot be written is logged, and stays.
std::vector<WallMicros> NoteStartIn(const std::string& path, WallMicros now);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_START_NOTES_H_
