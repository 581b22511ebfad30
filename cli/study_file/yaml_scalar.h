// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_scalar.h
//
// A number that would become another one (1e-999 is 0, which means frozen) is
// refused.
#ifndef FROSTLINE_CLI_STUDY_FILE_YAML_SCALAR_H_
#define FROSTLINE_CLI_STUDY_FILE_YAML_SCALAR_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/struct.pb.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_SCALAR_H_
