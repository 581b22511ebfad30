// SPDX-License-Identifier: Apache-2.0
//
// File: compare_verb.h
//
// Any thread may call.
#ifndef FROSTLINE_SERVER_IMPORTANCE_COMPARE_VERB_H_
#define FROSTLINE_SERVER_IMPORTANCE_COMPARE_VERB_H_

#include <vector>

#include "frostline/v1/importance_service.pb.h"
#include "server/importance/desk.h"

namespace frostline::server {

class CompareVerb {
 public:
  explicit CompareVerb(ImportanceDesk& desk) : desk_(desk) {}

  // REQUIRES: `studies` are those of StudiesOf(request), in its order.
  void CompareTrials(const std::vector<StudyHandle>& studies,
                     const v1::CompareTrialsRequest& request,
                     CancelFlag cancelled, Reply<v1::TrialComparison> reply);

 private:
  ImportanceDesk& desk_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_COMPARE_VERB_H_
