// SPDX-License-Identifier: Apache-2.0
//
// File: notes.h
#ifndef FROSTLINE_CLI_CLIENT_NOTES_H_
#define FROSTLINE_CLI_CLIENT_NOTES_H_

#include <ostream>

namespace frostline::cli {

// What people are told beside the answer: what is waited for, what comes next.
// It goes to standard error, and nowhere once SilenceNotes() has been called.
// What asks a person, or has failed, is no note.
std::ostream& Notes();

// For whoever asked for JSON: standard error then has JSON or nothing.
void SilenceNotes();

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_NOTES_H_
