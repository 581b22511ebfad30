// SPDX-License-Identifier: Apache-2.0
//
// File: recordings.h
//
// Finds recorded files and says what each one is, by its name alone.
#ifndef FROSTLINE_TESTS_PARITY_RECORDINGS_H_
#define FROSTLINE_TESTS_PARITY_RECORDINGS_H_

#include <string>
#include <vector>

#include "tests/parity/registry.h"

namespace frostline::test {

enum class RecordingState {
  kChecked,    // a room has registered this kind
  kNotBuilt,   // we know the kind; nothing here can check it yet
  kCompanion,  // read together with another file, or there for people
  kUnknown,    // named in the output, never a failure
};

struct Recording {
  std::string path;
  std::string name;  // below the folder searched, with '/'
  RecordingState state = RecordingState::kUnknown;
  std::string kind;
  const ParityKind* checker = nullptr;  // where state is kChecked
};

// What `name` is. A registered kind wins over the list of known ones.
Recording Classify(const std::string& name);

// Every file below `folder`, in order of name; hidden files are left out.
// REQUIRES: `folder` is a directory.
std::vector<Recording> FindRecordings(const std::string& folder);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_PARITY_RECORDINGS_H_
