// SPDX-License-Identifier: Apache-2.0
#include "base/disk_error.h"

#include <cerrno>

#include "base/error.h"

namespace frostline {

absl::Status DiskErrorOr(int error, const std::string& cause,
                         absl::Status otherwise) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return MakeError(ErrorId::kStoreFull, cause,
                       "make room on that disk, or name a file on another");
    case EIO:
      return MakeError(ErrorId::kStoreIo, cause,
                       "look at the kernel's log, and name a file on another "
                       "disk");
    default:
      return otherwise;
  }
}

}  // namespace frostline
