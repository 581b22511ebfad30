// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_sugar.h
//
// Short forms keep their lines and columns (docs/reference/study-file.md):
//
//   levels: [0, 2e-5]             ->  levels: {rates: [0, 2e-5]}
//   modules: {head: frozen}       ->  modules: [{select: head, fixed: 0}]
//   default: {full: 1e-3}         ->  default: {name: full, rate: 1e-3}
#ifndef FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_
#define FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/struct.pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

// A number that would become another one (1e-999 is 0, which means frozen) is
// refused.

// Numbers are decimal and finite: "12", "-3.5", "2e-5".
std::optional<double> ReadDouble(const std::string& text);
std::optional<std::int64_t> ReadInt(const std::string& text);
std::optional<std::uint64_t> ReadUint(const std::string& text);
// Takes small letters only.
std::optional<bool> ReadBool(const std::string& text);
// "90s", "1h30m", "500ms", or plain seconds, as flags take them.
std::optional<google::protobuf::Duration> ReadDuration(const std::string& text);

// Ignores case and the enum's prefix: "maximize" is DIRECTION_MAXIMIZE. It
// never answers the UNSPECIFIED one.
const google::protobuf::EnumValueDescriptor* ReadEnum(
    const std::string& text, const google::protobuf::EnumDescriptor& type);
// "maximize".
std::string ShortName(const google::protobuf::EnumValueDescriptor& value);

// Types are as in JSON: plain true, false, null and numbers are themselves,
// everything else (yes, no, on, dates) is text.
google::protobuf::Value ReadAny(const YamlNode& node);

// Rewrites a value where `message` is expected; the node stays the same where
// it is no short form.
YamlPtr LongForm(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// Makes a list of the map of a repeated message, each value with its key in the
// message's key field ("select" of modules); else the node stays the same.
YamlPtr LongList(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// Makes "ties" of "tie"; others stay the same.
std::string LongKey(const std::string& key,
                    const google::protobuf::Descriptor& message);

// Says whether `frozen` may stand for 0.
bool MayBeFrozen(const google::protobuf::FieldDescriptor& field);

// Of what the short forms are made, for who describes them; "" is none. A word
// or number in place of the message stands for this field …
std::string FieldOfScalar(const google::protobuf::Descriptor& message);
// … a list for this one, or, where it is a range, for `lo` and `hi` …
std::string FieldOfList(const google::protobuf::Descriptor& message);
bool IsRange(const google::protobuf::Descriptor& message);
// … and the keys of a map in place of a list of messages for this one.
std::string FieldOfKey(const google::protobuf::Descriptor& message);
std::vector<std::string> StrategyNames();

YamlPtr ScalarNode(const std::string& text, const YamlMark& mark);
YamlPtr ListNode(std::vector<YamlPtr> items, const YamlMark& mark);
YamlPtr MapNode(std::vector<YamlEntry> entries, const YamlMark& mark);

std::vector<std::string> ObjectiveKeys();
bool IsObjectiveKey(const std::string& key);

// Replaces the short forms by one `objectives`. It answers OBJECTIVE_INVALID
// when that is there besides, or the direction of an `objective` is not common
// knowledge.
absl::StatusOr<std::vector<YamlEntry>> LongObjectives(
    std::vector<YamlEntry> entries, const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_
