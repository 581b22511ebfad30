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

#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::cli {

// It has four significant digits: "0.9312", "1234", "3.1e-07".
std::string FormatNumber(double value);
// Writes 0 as "frozen".
std::string FormatRate(double rate);
// "4,260,000,000".
std::string FormatCount(std::int64_t count);
// The same of an estimate; "-" where there is none.
std::string CountOrDash(double count);
// "96 B", "118 MiB", "23.58 GiB", with four significant digits.
std::string FormatBytes(std::int64_t bytes);
// "3.12 TFLOP": three significant digits, and a unit that keeps them short.
std::string FormatFlops(double flops);
// "0.4 s", "12 s", "3m04s", "2h10m".
std::string FormatSeconds(double seconds);
// Writes "2026-11-21 06:07:34Z", or "" when it is not set.
std::string FormatTime(const google::protobuf::Timestamp& time);
// Text has no JSON quotes.
std::string FormatValue(const google::protobuf::Value& value);

// "team=nlp, user=ana", in the order of the alphabet.
std::string FormatLabels(
    const google::protobuf::Map<std::string, std::string>& labels);

// "SUCCEEDED".
std::string NameOf(v1::StudyState state);
std::string NameOf(v1::TrialState state);
std::string NameOf(v1::AttemptState state);
std::string NameOf(v1::WorkerState state);

bool IsEnded(v1::StudyState state);
bool IsEnded(v1::TrialState state);

// "imdb" of "studies/imdb", "17" of "studies/imdb/trials/17".
std::string LastPart(const std::string& name);

// Counts up to now while it runs; -1 means that it waits.
double SecondsOf(const v1::Trial& trial);

// Writes "state:       ACTIVE" and a newline, or "" for an empty value. Without
// a key the value goes on with the line before.
std::string KeyLine(const std::string& key, const std::string& value);

// Breaks key lines at blanks so that they fit, what goes on below its value. A
// width below 1 breaks nothing.
std::string WrapKeyLines(const std::string& text, int width);

// Says after `whose` ("study imdb") that it has the note, or what it is, line
// for line.
std::string NoteText(const std::string& whose, const std::string& note,
                     bool is_new);

// Every --json is indented, with the field names of the proto, defaults
// included (json_text.h).
std::string ToJson(const google::protobuf::Message& message);

// "1 worker", "2,000 workers". Where an s does not make `one` many, say what
// does: Counted(2, "study", "studies").
std::string Counted(std::int64_t count, const std::string& one,
                    const std::string& many = "");

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_FORMAT_H_
