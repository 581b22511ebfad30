// SPDX-License-Identifier: Apache-2.0
//
// File: chat_template.h
//
// How families of decoders write a conversation as one text. transformers has a
// program for that in each folder (chat_template.jinja); these are the same
// texts as rows of a table.
//
//   {user: Hi}, {assistant: Hello}     <|im_start|>user
//                                      Hi<|im_end|>
//                                      <|im_start|>assistant
//                                      Hello<|im_end|>
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_CHAT_TEMPLATE_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_CHAT_TEMPLATE_H_

#include <span>
#include <string>
#include <string_view>

#include "base/plain/result.h"

namespace frostline::trainer {

struct ChatMessage {
  std::string_view role;  // "system", "user" or "assistant"
  std::string_view content;
};

// The form of one family.
struct ChatTemplate {
  std::string_view name;
  std::string_view mark;    // of its program; the first row whose mark is there
  std::string_view begin;   // of the whole
  std::string_view system;  // of a conversation that has none; "": none either
  std::string_view before_system;  // its begin; then there is always one
  std::string_view before_role;
  std::string_view after_role;
  std::string_view end;  // of a message
  bool trims = false;    // contents
  bool thinks = false;   // an answer to the last question begins with thoughts
};

std::span<const ChatTemplate> ChatTemplates();

// Returns the row for a folder's own program, or null.
const ChatTemplate* FindChatTemplate(std::string_view program);

// Returns the conversation as one text. With `asks` it ends where the assistant
// is to speak; where a family thinks first, that has been thought. Returns
// kMisuse for no message, for another role, and for a system that is not the
// first.
Expected<std::string> WriteChat(const ChatTemplate& form,
                                std::span<const ChatMessage> messages,
                                bool asks);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_CHAT_TEMPLATE_H_
