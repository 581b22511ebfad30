// SPDX-License-Identifier: Apache-2.0
//
// File: format.h
#ifndef FROSTLINE_CLI_VIEW_FORMAT_H_
#define FROSTLINE_CLI_VIEW_FORMAT_H_

#include <google/protobuf/map.h>
#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstdint>
#include <string>

#include "frostline/v1/importance.pb.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::cli {

// Returns a number with four significant digits: "0.9312", "1234", "3.1e-07".
std::string FormatNumber(double value);
// Returns a rate; 0 is "frozen".
std::string FormatRate(double rate);

// Returns a level of a module's parameter: a rate, or of one that is called
// "rank" or "rank.layer.3" a rank, of which 0 is "none".
std::string FormatLevel(const std::string& parameter, double level);

// Returns "frozen", "0.001" or, of an adapter, "none", "rank 8 at 0.001".
std::string FormatTrained(const v1::ModuleRate& module);
std::string FormatTrained(const v1::PlannedModule& module);
// Returns "4,260,000,000".
std::string FormatCount(std::int64_t count);
// Returns the count of an estimate, or "-" when there is none.
std::string CountOrDash(double count);
// Returns "96 B", "118 MiB", "23.58 GiB", with four significant digits.
std::string FormatBytes(std::int64_t bytes);
// Returns "3.12 TFLOP": three significant digits and a fitting unit.
std::string FormatFlops(double flops);
// Returns "0.4 s", "12 s", "3m04s", "2h10m", or "-" for NaN.
std::string FormatSeconds(double seconds);
// Returns "2026-11-21 06:07:34Z", or "" when the time is not set.
std::string FormatTime(const google::protobuf::Timestamp& time);
// Returns a value as text, without JSON's quotes.
std::string FormatValue(const google::protobuf::Value& value);

// Returns "team=nlp, user=ana", in alphabetical order.
std::string FormatLabels(
    const google::protobuf::Map<std::string, std::string>& labels);

// Return the name of a state, such as "SUCCEEDED".
std::string NameOf(v1::StudyState state);
std::string NameOf(v1::TrialState state);
std::string NameOf(v1::AttemptState state);
std::string NameOf(v1::WorkerState state);

bool IsEnded(v1::StudyState state);
bool IsEnded(v1::TrialState state);

// Returns "imdb" for "studies/imdb", "17" for "studies/imdb/trials/17".
std::string LastPart(const std::string& name);

// Returns the time a trial took, up to now if it still runs; -1 means that it
// waits.
double SecondsOf(const v1::Trial& trial);

// Returns "state:       ACTIVE" and a newline, or "" for an empty value. An
// empty key continues the line before.
std::string KeyLine(const std::string& key, const std::string& value);

// Breaks key lines at blanks so that they fit; continued lines start below the
// value. A width below 1 breaks nothing.
std::string WrapKeyLines(const std::string& text, int width);

// Returns the note line by line. For a new note or none, returns a line such as
// "study imdb has no note", where `whose` is "study imdb".
std::string NoteText(const std::string& whose, const std::string& note,
                     bool is_new);

// Returns indented JSON as every --json prints it: with the proto's field names
// and with defaults (message_text.h).
std::string ToJson(const google::protobuf::Message& message);

// Returns "1 worker", "2,000 workers". If the plural is not formed with an s,
// pass it: Counted(2, "study", "studies").
std::string Counted(std::int64_t count, const std::string& one,
                    const std::string& many = "");

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_FORMAT_H_
