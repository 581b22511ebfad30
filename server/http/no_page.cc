// SPDX-License-Identifier: Apache-2.0
//
// Stands for the packed page where there was no Node, or no modules for it,
// when this program was built.
#include "server/http/page_assets.h"

namespace frostline::server {

std::vector<PageAsset> PageAssets() { return {}; }

}  // namespace frostline::server
