// SPDX-License-Identifier: Apache-2.0
//
// File: settings.h
//
// Holds one value of a study against its row of base/plain/training_table.h.
// An error is REQUEST_INVALID at `field`; it says what the row allows, and of
// words the one that was probably meant.
#ifndef FROSTLINE_SERVER_WIRE_SETTINGS_H_
#define FROSTLINE_SERVER_WIRE_SETTINGS_H_

#include <google/protobuf/struct.pb.h>

#include <string>

#include "absl/status/status.h"
#include "base/plain/training_table.h"

namespace frostline::server {

// Null and an empty text are what no study gave, and pass.
absl::Status CheckSetting(const SettingRow& row,
                          const google::protobuf::Value& value,
                          const std::string& field);

// The same of a word.
absl::Status CheckWord(const SettingRow& row, const std::string& word,
                       const std::string& field);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_SETTINGS_H_
