// Notes: the transient part of an entity's state. A small decider that counts what it was told and
// asks others about it; what it noted must never reach the journal and never outlive a refusal.
#include <gtest/gtest.h>

#include <onceward/core/entity_type.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace onceward {
namespace {

struct Added {
  int n = 0;
};
struct Heard {
  int n = 0;
};
enum class Do : std::uint8_t { store, note, store_and_note, claim_and_note };
struct Order {
  Do what = Do::note;
  int n = 0;
};

/// `note` and `store_and_note` note the number; resume() asks for each noted number once.
struct Listener {
  struct State {
    int stored = 0;
    std::vector<int> heard;  // transient
    std::size_t asked = 0;   // transient
  };
  using Event = Added;
  using Note = Heard;
  using Command = Order;
  using Reply = std::string;
  using Decided = Decision<Event, Reply, Note>;

  [[nodiscard]] State initial(const PersistenceId& /*id*/) const { return {}; }
  [[nodiscard]] Decided decide(const State& state, const Command& order, const Context& ctx) const {
    Decided decision;
    if (ctx.refusal != nullptr) {
      decision.reply = "refused at " + std::to_string(state.heard.size());
      return decision;
    }
    if (order.what != Do::note) decision.events.push_back({order.n});
    if (order.what != Do::store) decision.notes.push_back({order.n});
    if (order.what == Do::claim_and_note) decision.rows.push_back({RowWrite::Kind::claim, {}});
    decision.reply = "heard " + std::to_string(state.heard.size());
    return decision;
  }
  [[nodiscard]] Decided decide_answer(const State&, const ExternalAnswer&, const Context&) const {
    return {};
  }
  [[nodiscard]] Decided resume(const State& state, const Context& /*ctx*/) const {
    Decided decision;
    if (state.asked == state.heard.size()) return decision;
    decision.effects.push_back(Load{state.heard[state.asked]});
    decision.notes.push_back({0});
    return decision;
  }
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const {
    state.stored += event.n;
    return ok();
  }
  void take_note(State& state, const Note& note) const {
    if (note.n == 0) {
      ++state.asked;
    } else {
      state.heard.push_back(note.n);
    }
  }
  [[nodiscard]] std::optional<Reply> answer_waiter(const State&, const Command&) const {
    return std::nullopt;
  }
  [[nodiscard]] Reply turn_down(const Command&, Turndown /*why*/) const { return "turned down"; }
};

EncodedEvent encode(const Added& event) {
  return {{"Added", 1}, std::to_string(event.n)};
}
Result<Added> decode(const EncodedEvent& event) {
  return Added{std::stoi(event.payload)};
}

class Notes : public ::testing::Test {
 protected:
  void SetUp() override { restart({}); }

  void restart(std::vector<StoredEvent> history) {
    const SequenceNr last{history.size()};
    machine_ = std::make_unique<TypedMachine<Listener>>(
        std::make_shared<const Listener>(), EventCodec<Added>{&encode, &decode},
        MachineOptions{PersistenceId{"listener/1"}, ShardNr{0}, Incarnation{1}, WriterId{"w"}});
    step(input::Replayed{std::move(history)});
    step(input::RecoveryDone{last, Digest{}, Epoch{1}});
  }
  std::vector<Output> step(Input input) {
    std::vector<Output> outputs;
    machine_->step(std::move(input), StepContext{}, outputs);
    return outputs;
  }
  std::vector<Output> order(Do what, int n) {
    return step(input::Command{Order{what, n}, ReplyTo{7}, false});
  }
  std::vector<Output> answer(CommitAnswer answer) {
    return step(input::CommitAnswered{Incarnation{1}, std::move(answer)});
  }
  [[nodiscard]] const Listener::State& state() const { return machine_->state(); }

  std::unique_ptr<TypedMachine<Listener>> machine_;
};

template <class T>
std::vector<T> only(const std::vector<Output>& outputs) {
  std::vector<T> found;
  for (const auto& output : outputs) {
    if (const auto* typed = std::get_if<T>(&output)) found.push_back(*typed);
  }
  return found;
}

TEST_F(Notes, AreTakenAtOnceWhenNothingIsStored) {
  const auto outputs = order(Do::note, 5);
  EXPECT_TRUE(only<output::Commit>(outputs).empty());
  EXPECT_EQ(only<output::Reply>(outputs).size(), 1U);
  EXPECT_EQ(state().heard, std::vector<int>{5});
}

TEST_F(Notes, MakeTheMachineAskWhatIsOwedNow) {
  const auto loads = only<output::Load>(order(Do::note, 5));
  ASSERT_EQ(loads.size(), 1U);
  EXPECT_EQ(std::any_cast<int>(loads[0].query), 5);
  EXPECT_TRUE(machine_->is_idle());
}

TEST_F(Notes, AreNeverEncoded) {
  const auto commits = only<output::Commit>(order(Do::store_and_note, 5));
  ASSERT_EQ(commits.size(), 1U);
  ASSERT_EQ(commits[0].unit.events.size(), 1U);
  EXPECT_EQ(commits[0].unit.events[0].payload, "5");
}

TEST_F(Notes, WaitForTheirUnitToBeStored) {
  EXPECT_TRUE(only<output::Load>(order(Do::store_and_note, 5)).empty());
  EXPECT_TRUE(state().heard.empty());
  const auto outputs = answer(Stored{SequenceNr{1}, Digest{}});
  EXPECT_EQ(state().stored, 5);
  EXPECT_EQ(state().heard, std::vector<int>{5});
  EXPECT_EQ(only<output::Load>(outputs).size(), 1U);
}

TEST_F(Notes, AreDroppedWithARefusedUnit) {
  order(Do::claim_and_note, 5);
  const auto replies = only<output::Reply>(answer(ClaimRefused{}));
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(std::any_cast<std::string>(replies[0].reply), "refused at 0");
  EXPECT_TRUE(state().heard.empty());
  order(Do::note, 6);
  EXPECT_EQ(state().heard, std::vector<int>{6});
}

TEST_F(Notes, AreDroppedWithAnInvalidUnit) {
  order(Do::store_and_note, 5);
  answer(InvalidUnit{});
  EXPECT_TRUE(state().heard.empty());
  EXPECT_EQ(state().stored, 0);
}

TEST_F(Notes, AreDroppedWhenTheIncarnationStops) {
  for (const CommitAnswer& end : {CommitAnswer{CommitUnknown{}}, CommitAnswer{Fenced{}}}) {
    restart({});
    order(Do::store_and_note, 5);
    EXPECT_EQ(only<output::Stop>(answer(end)).size(), 1U);
    EXPECT_TRUE(state().heard.empty());
  }
}

TEST_F(Notes, AreLostWithTheIncarnationWhileEventsStay) {
  order(Do::note, 4);
  restart({StoredEvent{SequenceNr{1}, encode({5}), Epoch{1}, WriterId{"w"}, {}, Digest{}}});
  EXPECT_EQ(state().stored, 5);
  EXPECT_TRUE(state().heard.empty());
}

TEST_F(Notes, ResultsOfOwnEffectsAreHeldBeyondTheStash) {
  order(Do::store, 1);
  for (std::size_t i = 0; i < stash_max; ++i) order(Do::note, 2);
  const auto turned_down = only<output::Reply>(order(Do::note, 2));
  ASSERT_EQ(turned_down.size(), 1U);
  EXPECT_EQ(std::any_cast<std::string>(turned_down[0].reply), "turned down");
  EXPECT_TRUE(step(input::Command{Order{Do::note, 3}, ReplyTo{}, false, true}).empty());
  answer(Stored{SequenceNr{1}, Digest{}});
  EXPECT_EQ(state().heard.size(), stash_max + 1);
  EXPECT_EQ(state().heard.back(), 3);
}

}  // namespace
}  // namespace onceward
