// Admission, and the answer of last resort.
#include "actors/open_command.hpp"

#include <utility>

#include "actors/node.hpp"

namespace onceward::actors {

std::unique_ptr<OpenCommand> OpenCommand::admit(Node& node, const EntityBinding& binding,
                                                std::any command, ReplySink sink) {
  auto open = std::make_unique<OpenCommand>(node, binding, std::move(command), std::move(sink));
  const auto bound = static_cast<std::int64_t>(node.options.admission_max);
  if (node.draining.load() || node.commands.count() > bound) {
    open->turn_down(Turndown::busy);
    return nullptr;
  }
  return open;
}

OpenCommand::OpenCommand(Node& node, const EntityBinding& binding, std::any command, ReplySink sink)
    : node_(node), binding_(binding), command_(std::move(command)), sink_(std::move(sink)) {
  node_.commands.add();
}

OpenCommand::~OpenCommand() {
  if (!answered_) turn_down(reached_machine_ ? Turndown::uncertain : Turndown::busy);
  node_.commands.subtract();
}

void OpenCommand::reply(std::any reply) {
  answered_ = true;
  sink_(std::move(reply));
}

void OpenCommand::turn_down(Turndown why) {
  node_.turned_down.fetch_add(1, std::memory_order_relaxed);
  reply(binding_.type.turn_down(command_, why));
}

}  // namespace onceward::actors
