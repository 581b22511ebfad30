// SPDX-License-Identifier: Apache-2.0
//
// File: recorded_json.h
//
// The JSON of a recording, with the trainer's own reader. What is not there,
// or is of another kind, throws std::runtime_error and so fails that recording
// alone.
#ifndef FROSTLINE_TESTS_PARITY_FIGURES_RECORDED_JSON_H_
#define FROSTLINE_TESTS_PARITY_FIGURES_RECORDED_JSON_H_

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/plain/json.h"

namespace frostline::test {

// A file; its values live as long as the object.
class RecordedJson {
 public:
  explicit RecordedJson(const std::filesystem::path& file);
  RecordedJson(const RecordedJson&) = delete;  // values point into it
  RecordedJson& operator=(const RecordedJson&) = delete;

  const JsonValue& root() const { return json_.root(); }

 private:
  std::string bytes_;
  Json json_;
};

bool Has(const JsonValue& object, const std::string& member);
const JsonValue& At(const JsonValue& object, const std::string& member);

double NumberOf(const JsonValue& value);
double NumberAt(const JsonValue& object, const std::string& member);
std::string TextAt(const JsonValue& object, const std::string& member);
std::string TextAt(const JsonValue& object, const std::string& member,
                   const std::string& otherwise);

// The elements of an array or the members of an object, in their order.
std::vector<const JsonValue*> Elements(const JsonValue& value);
std::set<std::string> TextsAt(const JsonValue& object,
                              const std::string& member);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_PARITY_FIGURES_RECORDED_JSON_H_
