// SPDX-License-Identifier: Apache-2.0
//
// File: audit_verb.h
#ifndef FROSTLINE_SERVER_VERBS_AUDIT_VERB_H_
#define FROSTLINE_SERVER_VERBS_AUDIT_VERB_H_

#include "frostline/v1/admin_service.pb.h"
#include "server/audit/audit_log.h"
#include "server/verbs/calls.h"

namespace frostline::server {

// Lists the audit, the newest first, on a reader: it reads back as far as the
// filter needs. A page token is the entry before which the next page begins.
class AuditVerb {
 public:
  AuditVerb(Calls& calls, const AuditLog& audit)
      : calls_(calls), audit_(audit) {}

  void AddTo(VerbTable& table);

 private:
  void ListAuditEntries(CallContext caller, v1::ListAuditEntriesRequest request,
                        Reply<v1::ListAuditEntriesReply> reply);
  absl::StatusOr<v1::ListAuditEntriesReply> Page(
      const CallContext& caller, const v1::ListAuditEntriesRequest& request,
      std::int64_t before) const;

  Calls& calls_;
  const AuditLog& audit_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_AUDIT_VERB_H_
