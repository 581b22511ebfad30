// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/audit_verb.h"

#include <memory>
#include <utility>

#include "base/error.h"
#include "server/wire/filter.h"
#include "server/wire/limits.h"
#include "server/wire/page_token.h"

namespace frostline::server {
namespace {

constexpr char kList[] = "audit";

}  // namespace

void AuditVerb::AddTo(VerbTable& table) {
  calls_.Add(table, "AdminService.ListAuditEntries", CallerRole::kAdmin, this,
             &AuditVerb::ListAuditEntries);
}

void AuditVerb::ListAuditEntries(CallContext caller,
                                 v1::ListAuditEntriesRequest request,
                                 Reply<v1::ListAuditEntriesReply> reply) {
  const auto before =
      ParsePageToken(kList, request.filter(), request.page_token());
  if (!before.ok()) return reply(before.status());
  auto shared =
      std::make_shared<Reply<v1::ListAuditEntriesReply>>(std::move(reply));
  calls_.PostTo(
      calls_.readers(),
      [this, shared, caller = std::move(caller), request = std::move(request),
       before = *before] { (*shared)(Page(caller, request, before)); },
      Urgency::kRead, [&shared](const absl::Status& why) { (*shared)(why); });
}

absl::StatusOr<v1::ListAuditEntriesReply> AuditVerb::Page(
    const CallContext& caller, const v1::ListAuditEntriesRequest& request,
    std::int64_t before) const {
  ASSIGN_OR_RETURN(const AuditFilter filter,
                   AuditFilter::Parse(request.filter()));
  v1::ListAuditEntriesReply page;
  const int size = PageSize(request.page_size());
  RETURN_IF_ERROR(audit_.ReadBack([&](const v1::AuditEntry& entry) {
    if (before != 0 && entry.sequence() >= before) return true;
    if (caller.hung_up()) return false;
    if (!filter.Matches(entry)) return true;
    if (page.entries_size() == size) {
      const std::int64_t last = page.entries(size - 1).sequence();
      page.set_next_page_token(MakePageToken(kList, request.filter(), last));
      return false;
    }
    *page.add_entries() = entry;
    return true;
  }));
  return page;
}

}  // namespace frostline::server
