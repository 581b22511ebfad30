// SPDX-License-Identifier: Apache-2.0
//
// File: listed.h
//
// Makes a page of a list that memory has whole.
#ifndef FROSTLINE_SERVER_VERBS_LISTED_H_
#define FROSTLINE_SERVER_VERBS_LISTED_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/error.h"
#include "server/wire/page_token.h"

namespace frostline::server {

// `add(row, page)` adds one row. The list's name binds its page tokens.
template <typename Page, typename Row, typename Request, typename Add>
absl::StatusOr<Page> PageOf(const std::string& list,
                            const std::vector<Row>& rows,
                            const Request& request, Add add) {
  ASSIGN_OR_RETURN(const std::int64_t first,
                   ParsePageToken(list, "", request.page_token()));
  Page page;
  const auto begin = static_cast<std::size_t>(first);
  const auto size = static_cast<std::size_t>(PageSize(request.page_size()));
  for (std::size_t i = begin; i < rows.size() && i < begin + size; ++i) {
    add(rows[i], page);
  }
  if (begin + size < rows.size()) {
    page.set_next_page_token(
        MakePageToken(list, "", static_cast<std::int64_t>(begin + size)));
  }
  return page;
}

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_LISTED_H_
