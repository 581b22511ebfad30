// SPDX-License-Identifier: Apache-2.0
//
// File: token_secret.h
//
//   frost_3f9c0a51d2e47b68_<64 hexadecimal digits>
//
// The first part names the token, for look-ups and for people who find it; the
// second is its secret, of 256 bits. A secret that nobody can guess needs no
// slow hash.
#ifndef FROSTLINE_SERVER_AUTH_TOKEN_SECRET_H_
#define FROSTLINE_SERVER_AUTH_TOKEN_SECRET_H_

#include <string>

#include "base/secret.h"

namespace frostline::server {

// Makes the id of the token that this request creates: it is the same when the
// request is repeated.
std::string TokenIdOf(const std::string& request_id);

// Draws the secret from the operating system.
SecretString NewTokenSecret(const std::string& id);
std::string HashOfSecret(const SecretString& secret);
// Answers the empty id for what is no token of ours.
std::string TokenIdIn(const SecretString& secret);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_TOKEN_SECRET_H_
