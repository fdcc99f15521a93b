// OpenCommand: a command that somebody waits for. Owns the promise that the waiter is answered:
// whatever destroys it (a stop, an exception, mail to an actor that is gone) answers by turn-down.
#pragma once

#include <any>
#include <memory>

#include <onceward/actors/runtime.hpp>

namespace onceward::actors {

struct Node;

/// Owned by one actor or one mail at a time; used by one thread at a time.
class OpenCommand {
 public:
  /// Admits the command, or turns it down as busy and gives null: beyond admission_max and while
  /// draining. `node` and `binding` outlive the object.
  [[nodiscard]] static std::unique_ptr<OpenCommand> admit(Node& node, const EntityBinding& binding,
                                                          std::any command, ReplySink sink);
  /// Without asking for admission.
  OpenCommand(Node& node, const EntityBinding& binding, std::any command, ReplySink sink);
  ~OpenCommand();
  OpenCommand(const OpenCommand&) = delete;
  OpenCommand& operator=(const OpenCommand&) = delete;

  [[nodiscard]] const std::any& command() const noexcept { return command_; }
  /// From here on it is no longer certain that the command recorded nothing.
  void reached_machine() noexcept { reached_machine_ = true; }
  void reply(std::any reply);
  void turn_down(Turndown why);

 private:
  Node& node_;
  const EntityBinding& binding_;
  std::any command_;
  ReplySink sink_;
  bool reached_machine_ = false;
  bool answered_ = false;
};

}  // namespace onceward::actors
