// SPDX-License-Identifier: Apache-2.0
//
// File: roles.h
//
//   caller \ row   anyone  viewer  worker  certified  researcher  invited admin
//   invited          x                                               x
//   viewer           x       x
//   worker           x               x       if it is
//   researcher       x       x                          x
//   admin            x       x       x                  x                    x
//
// A worker is certified where a certificate is what it shows. A row that names
// no role has that of admins, so a new verb is denied to everybody else until
// somebody says otherwise.
#ifndef FROSTLINE_SERVER_AUTH_ROLES_H_
#define FROSTLINE_SERVER_AUTH_ROLES_H_

#include <optional>
#include <string>

#include "frostline/v1/admin_service.pb.h"
#include "server/loop/call_context.h"

namespace frostline::server {

bool Allows(const CallerIdentity& caller, CallerRole row);

// "admin"; of a row also "anyone" and "certified".
const char* NameOfRole(CallerRole role);
// Answers nothing for any other word, "anyone" too.
std::optional<CallerRole> RoleNamed(const std::string& name);

v1::Role RoleToProto(CallerRole role);
// Answers nothing for what is no role of a caller.
std::optional<CallerRole> RoleFromProto(int role);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_ROLES_H_
