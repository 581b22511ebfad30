// SPDX-License-Identifier: Apache-2.0
//
// File: notes.h
#ifndef FROSTLINE_CLI_CLIENT_NOTES_H_
#define FROSTLINE_CLI_CLIENT_NOTES_H_

#include <ostream>

namespace frostline::cli {

// Returns the stream for notes beside the answer, such as what is waited for
// and what comes next. This is standard error; after SilenceNotes() the notes
// are dropped. Questions to a person and errors are not notes.
std::ostream& Notes();

// Drops all notes from now on. It is for callers that asked for JSON: standard
// error then holds JSON or nothing.
void SilenceNotes();

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_NOTES_H_
