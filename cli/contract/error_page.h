// SPDX-License-Identifier: Apache-2.0
//
// File: error_page.h
#ifndef FROSTLINE_CLI_CONTRACT_ERROR_PAGE_H_
#define FROSTLINE_CLI_CONTRACT_ERROR_PAGE_H_

namespace frostline::cli {

// docs/reference/errors.md, as it was when the program was built.
extern const char kErrorPages[];

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_ERROR_PAGE_H_
