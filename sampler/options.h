// SPDX-License-Identifier: Apache-2.0
//
// File: options.h
//
// Reads the options of a sampler. It keeps the first mistake, so a caller reads
// everything and asks once.
#ifndef FROSTLINE_SAMPLER_OPTIONS_H_
#define FROSTLINE_SAMPLER_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/error.h"

namespace frostline::sampler {

using Options = std::map<std::string, std::string>;

// It keeps a reference to the options and is not thread-safe.
class OptionReader {
 public:
  // `owner` is for messages; `field` is where the study has its options.
  OptionReader(ErrorId error, std::string owner, std::string field,
               const Options& options);

  // Each answers `otherwise` when the option is left out or wrong.
  std::int64_t Int(const std::string& name, std::int64_t otherwise,
                   std::int64_t min, std::int64_t max);
  double Number(const std::string& name, double otherwise, double min,
                double max);
  bool Bool(const std::string& name, bool otherwise);
  std::string OneOf(const std::string& name, const std::string& otherwise,
                    const std::vector<std::string>& choices);

  // Returns the first mistake. An option that nobody read is one: call this
  // last.
  absl::Status Finish() const;

 private:
  const std::string* Find(const std::string& name);
  void Refuse(const std::string& name, const std::string& text,
              const std::string& expected);

  ErrorId error_;
  std::string owner_;
  std::string field_;
  const Options& options_;
  std::vector<std::string> known_;
  absl::Status first_error_;
};

// Says "there is no sampler \"tpee\"" and, to fix it, "did you mean tpe? …".
absl::Status UnknownName(ErrorId error, const std::string& what,
                         const std::string& name,
                         const std::vector<std::string>& known,
                         const std::string& field);

// Returns the name with the fewest edits, ignoring case; empty if all are far
// off.
std::string NearestName(const std::string& name,
                        const std::vector<std::string>& names);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTIONS_H_
