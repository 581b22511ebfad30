// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/chat_template.h"

#include <array>
#include <cstddef>

#include "base/plain/text.h"

namespace frostline::trainer {
namespace {

constexpr std::string_view kNoThoughts = "<think>\n\n</think>\n\n";
constexpr std::string_view kThoughtsBegin = "<think>";
constexpr std::string_view kThoughtsEnd = "</think>";

// ChatML, but for the last two. Llama 3.2 has the day of today where 3.1 has a
// fixed one: a training that anybody can repeat takes the fixed one.
constexpr std::array<ChatTemplate, 5> kTemplates = {{
    {.name = "SmolLM2",
     .mark = "named SmolLM",
     .begin = "",
     .system = "You are a helpful AI assistant named SmolLM, trained by "
               "Hugging Face",
     .before_system = "",
     .before_role = "<|im_start|>",
     .after_role = "\n",
     .end = "<|im_end|>\n"},
    {.name = "Qwen2.5",
     .mark = "You are Qwen, created by Alibaba Cloud",
     .begin = "",
     .system = "You are Qwen, created by Alibaba Cloud. You are a helpful "
               "assistant.",
     .before_system = "",
     .before_role = "<|im_start|>",
     .after_role = "\n",
     .end = "<|im_end|>\n"},
    {.name = "Qwen3",
     .mark = "enable_thinking",
     .begin = "",
     .system = "",
     .before_system = "",
     .before_role = "<|im_start|>",
     .after_role = "\n",
     .end = "<|im_end|>\n",
     .thinks = true},
    {.name = "Llama 3.1",
     .mark = "Cutting Knowledge Date",
     .begin = "<|begin_of_text|>",
     .system = "",
     .before_system = "Cutting Knowledge Date: December 2023\n"
                      "Today Date: 26 Jul 2024\n\n",
     .before_role = "<|start_header_id|>",
     .after_role = "<|end_header_id|>\n\n",
     .end = "<|eot_id|>",
     .trims = true},
    {.name = "Llama 3",
     .mark = "<|start_header_id|>",
     .begin = "<|begin_of_text|>",
     .system = "",
     .before_system = "",
     .before_role = "<|start_header_id|>",
     .after_role = "<|end_header_id|>\n\n",
     .end = "<|eot_id|>",
     .trims = true},
}};

std::string_view WithoutLines(std::string_view text, bool front, bool back) {
  while (front && text.starts_with('\n')) text.remove_prefix(1);
  while (back && text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// Returns an assistant's message in a family that thinks: its thoughts, and the
// place of none in the last message, only behind the last question.
std::string WithThoughts(std::string_view content, bool behind, bool last) {
  std::string_view thoughts;
  std::string_view said = content;
  const std::size_t first = content.find(kThoughtsEnd);
  if (first != std::string_view::npos) {
    thoughts = WithoutLines(content.substr(0, first), false, true);
    const std::size_t begin = thoughts.rfind(kThoughtsBegin);
    if (begin != std::string_view::npos) {
      thoughts.remove_prefix(begin + kThoughtsBegin.size());
    }
    thoughts = WithoutLines(thoughts, true, true);
    said.remove_prefix(content.rfind(kThoughtsEnd) + kThoughtsEnd.size());
    said = WithoutLines(said, true, false);
  }
  if (!behind || (!last && thoughts.empty())) return std::string(said);
  if (thoughts.empty()) {
    return std::string(kNoThoughts) +
           std::string(WithoutLines(said, true, false));
  }
  return "<think>\n" + std::string(thoughts) + "\n</think>\n\n" +
         std::string(WithoutLines(said, true, false));
}

Fault BadChat(const std::string& cause) {
  return {FaultKind::kMisuse, "a conversation " + cause,
          "give messages of user and assistant, and at most one of system "
          "before them"};
}

}  // namespace

std::span<const ChatTemplate> ChatTemplates() { return kTemplates; }

const ChatTemplate* FindChatTemplate(std::string_view program) {
  for (const ChatTemplate& each : kTemplates) {
    if (program.find(each.mark) != std::string_view::npos) return &each;
  }
  return nullptr;
}

Expected<std::string> WriteChat(const ChatTemplate& form,
                                std::span<const ChatMessage> messages,
                                bool asks) {
  if (messages.empty()) return BadChat("has no message");
  std::string text(form.begin);
  const auto add = [&](std::string_view role, std::string_view content) {
    const bool system = role == "system";
    for (const std::string_view part :
         {form.before_role, role, form.after_role,
          system ? form.before_system : std::string_view(),
          form.trims ? Trimmed(content) : content, form.end}) {
      text += part;
    }
  };
  const bool has_system = !form.system.empty() || !form.before_system.empty();
  if (messages.front().role != "system" && has_system) {
    add("system", form.system);
  }
  std::size_t last_question = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role == "user") last_question = i;
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& [role, content] = messages[i];
    const bool known =
        role == "user" || role == "assistant" || (role == "system" && i == 0);
    if (!known) {
      return BadChat("has a message " + std::to_string(i + 1) +
                     " of the role " + Shown(role));
    }
    const bool thinks = form.thinks && role == "assistant";
    add(role, thinks ? WithThoughts(content, i > last_question,
                                    i + 1 == messages.size())
                     : std::string(content));
  }
  if (!asks) return text;
  text += form.before_role;
  text += "assistant";
  text += form.after_role;
  if (form.thinks) text += kNoThoughts;
  return text;
}

}  // namespace frostline::trainer
