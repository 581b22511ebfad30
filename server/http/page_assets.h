// SPDX-License-Identifier: Apache-2.0
//
// File: page_assets.h
//
// The files of the page, which dashboard/build.mjs packs into a source.
#ifndef FROSTLINE_SERVER_HTTP_PAGE_ASSETS_H_
#define FROSTLINE_SERVER_HTTP_PAGE_ASSETS_H_

#include <string_view>
#include <vector>

namespace frostline::server {

struct PageAsset {
  std::string_view name;  // "page.4be1f3a0.js"; "index.html" is the page itself
  std::string_view type;  // "text/javascript"
  std::string_view body;
};

// Empty: this program was built without the page.
std::vector<PageAsset> PageAssets();

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_HTTP_PAGE_ASSETS_H_
