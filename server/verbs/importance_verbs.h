// SPDX-License-Identifier: Apache-2.0
//
// File: importance_verbs.h
//
// The verbs of ImportanceService: each looks up its studies and asks the desk
// (importance/desk.h), which answers on threads of its own.
#ifndef FROSTLINE_SERVER_VERBS_IMPORTANCE_VERBS_H_
#define FROSTLINE_SERVER_VERBS_IMPORTANCE_VERBS_H_

#include "frostline/v1/importance_service.pb.h"
#include "server/importance/desk.h"
#include "server/verbs/calls.h"

namespace frostline::server {

class ImportanceVerbs {
 public:
  // Borrows both.
  ImportanceVerbs(Calls& calls, ImportanceDesk& desk)
      : calls_(calls), desk_(desk) {}

  void AddTo(VerbTable& table);

 private:
  // What the desk is asked once the study has been looked up.
  template <typename Request, typename Answer>
  using DeskVerb = void (ImportanceDesk::*)(const StudyHandle&, const Request&,
                                            CancelFlag, Reply<Answer>);
  template <typename Request, typename Answer>
  void Add(VerbTable& table, const char* verb, DeskVerb<Request, Answer> ask);
  void CompareStudies(CallContext caller, v1::CompareStudiesRequest request,
                      Reply<v1::StudyComparison> reply);

  Calls& calls_;
  ImportanceDesk& desk_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_IMPORTANCE_VERBS_H_
