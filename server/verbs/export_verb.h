// SPDX-License-Identifier: Apache-2.0
//
// File: export_verb.h
//
// Trials are sent a page at a time, so that a large study takes no more memory
// than a small one.
#ifndef FROSTLINE_SERVER_VERBS_EXPORT_VERB_H_
#define FROSTLINE_SERVER_VERBS_EXPORT_VERB_H_

#include <cstdint>
#include <optional>
#include <string>

#include "frostline/v1/study_service.pb.h"
#include "server/verbs/calls.h"

namespace frostline::server {

// `next` is the trial after which to go on; the last page has none.
struct ExportedPage {
  std::string data;
  std::optional<std::int64_t> next;
};

class ExportVerb {
 public:
  ExportVerb(Calls& calls, const storage::TrialStore& store)
      : calls_(calls), store_(store) {}

  void AddTo(VerbTable& table);

 private:
  // Reads a few hundred trials after number `after` (-1: from the first).
  absl::StatusOr<ExportedPage> ExportNext(
      const StudyHandle& study, const v1::ExportTrialsRequest& request,
      std::int64_t after) const;

  Calls& calls_;
  const storage::TrialStore& store_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_EXPORT_VERB_H_
