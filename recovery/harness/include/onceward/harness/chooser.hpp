// Chooser: the only source of choice in a simulated world. Every question is labelled and bounded;
// option 0 always means that nothing unusual happens. The engines differ only in how they answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/result.hpp>

namespace onceward::harness {

class World;

/// Answers of one schedule in the order of the questions; what is beyond the end is 0.
using Choices = std::vector<int>;

/// `4:2,17:1`: position and answer of every question that was not answered with 0. `-`: none.
[[nodiscard]] std::string to_text(const Choices& choices);
/// Exactly what to_text gives; anything else is invalid_argument and says what is expected.
[[nodiscard]] Result<Choices> parse_choices(std::string_view text);
/// How many choices are not 0: the faults of the schedule.
[[nodiscard]] std::size_t fault_count(const Choices& choices) noexcept;

/// Labels are string literals. Not thread-safe; one chooser serves one world at a time.
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// An option in 0 .. options - 1, options >= 2.
  virtual int choose(const char* label, int options) = 0;
  /// Asked where no process holds anything in memory: all that can still happen is a function of
  /// `state`. True: everything from here on was run before, the world ends this schedule.
  virtual bool was_here(std::uint64_t /*state*/, const World& /*world*/) { return false; }
};

/// Plays a list of choices, then 0. An answer beyond a question's options is taken as 0.
class RecordedChooser final : public Chooser {
 public:
  explicit RecordedChooser(Choices choices) : choices_(std::move(choices)) {}
  int choose(const char* label, int options) override;
  [[nodiscard]] std::size_t asked() const noexcept { return at_; }

 private:
  Choices choices_;
  std::size_t at_ = 0;
};

/// Draws from one seed (splitmix64) and records what it drew. How often each kind of question is
/// answered with a fault is drawn once per seed; many kinds are left out (swarm), so that rare
/// combinations are not drowned by frequent ones.
class DiceChooser final : public Chooser {
 public:
  explicit DiceChooser(std::uint64_t seed) : state_(seed) {}
  int choose(const char* label, int options) override;
  [[nodiscard]] const Choices& choices() const noexcept { return choices_; }

 private:
  struct Kind {
    std::string_view label;
    int permille = 0;
  };
  [[nodiscard]] std::uint64_t next() noexcept;
  [[nodiscard]] int permille_of(std::string_view label);

  std::uint64_t state_;
  std::vector<Kind> kinds_;
  Choices choices_;
};

}  // namespace onceward::harness
