// Chaos by the dice, then calm, then the judgement.
#include "tests/support/random_world.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <onceward/recovery/verify.hpp>

namespace onceward::testing {

using billing::BillCustomer;
using billing::Flow;
using billing::Notify;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

namespace {

constexpr std::array purposes = {"subscription", "seats"};
constexpr int actions_max = 70;

const Currency usd = *Currency::parse("usd");

}  // namespace

std::uint64_t Dice::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

int Dice::roll(int sides) {
  return static_cast<int>(next() % static_cast<std::uint64_t>(sides));
}

billing::BillingPolicy RandomWorld::policy_of(Dice& dice) {
  billing::BillingPolicy p;
  p.ns = Namespace{"acme-billing"};
  p.account = AccountLabel{"default"};
  const std::array flows = {Flow::payment_intents, Flow::payment_intents, Flow::charges,
                            Flow::payment_intents_one_step};
  p.flow = flows[static_cast<std::size_t>(dice.roll(4))];
  return p;
}

RandomWorld::RandomWorld(std::uint64_t seed)
    : CustomerPump(
          [seed] {
            Dice dice(seed);
            return policy_of(dice);
          }(),
          CustomerId{"cust_1"}),
      dice_(seed),
      policy_(policy_of(dice_)),
      true_(*parse_iso("2026-09-01T00:00:00Z")) {
  for (const char* period : periods) {
    for (const char* purpose : purposes) {
      owed_.push_back({{customer_, *BillingPeriod::parse(period), Purpose{purpose}},
                       Money{1000 * (1 + dice_.roll(9)), usd},
                       false});
    }
  }
  owed_.resize(static_cast<std::size_t>(1 + dice_.roll(6)));
  draw_weather();
}

void RandomWorld::draw_weather() {
  const auto some = [this](int most) { return dice_.permille(500) ? dice_.roll(most) : 0; };
  weather_.crash = some(80);
  weather_.commit = some(100);
  weather_.post = some(600);
  weather_.look_up = some(300);
  weather_.no_permit = some(400);
  weather_.jump = some(60);
  weather_.clock = some(30);
  weather_.actor = some(120);
  for (const Fate fate : all_fates) {
    if (dice_.permille(400)) weather_.fates.push_back(fate);
  }
  if (weather_.fates.empty()) weather_.fates.push_back(Fate::lost_after);
}

void RandomWorld::broke(const std::string& what) {
  if (broken_.empty()) broken_ = what;
  note("BROKEN " + what);
}

void RandomWorld::note(const std::string& line) {
  for (const char c : line) {
    digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  if (keeps_trace) trace_ += to_iso(true_) + " " + line + "\n";
}

// --- what the pump asks ---

bool RandomWorld::dies(const char* place) {
  if (calm_ || !dice_.permille(weather_.crash)) return false;
  note(std::string("dies ") + place);
  ++crashes_;
  stop();
  open_.clear();
  knows_provider_time_ = false;
  if (dice_.permille(300)) {
    ++boot_;
    boot_at_ms_ = true_.ms - dice_.roll(100'000);
  }
  const std::array downtimes = {0, 2, 20, 23 * 60, 30 * 60};
  pass(minutes{downtimes[static_cast<std::size_t>(dice_.roll(5))]});
  return true;
}

Fate RandomWorld::fate_of(const ExternalRequest& request) {
  if (calm_) return Fate::ok;
  if (is_look_up(request.operation)) {
    if (!dice_.permille(weather_.look_up)) return Fate::ok;
    const std::array fates = {Fate::lost_before, Fate::not_sent, Fate::failed_500, Fate::limited};
    return fates[static_cast<std::size_t>(dice_.roll(4))];
  }
  if (!dice_.permille(weather_.post)) return Fate::ok;
  const Fate fate =
      weather_.fates[static_cast<std::size_t>(dice_.roll(static_cast<int>(weather_.fates.size())))];
  if (fate == Fate::late) {
    // As late as the policy allows for: put on the wire at not_after, running for the whole bound.
    const std::int64_t latest =
        request.not_after_boottime_ms - now().boottime_ms + policy_.provider_bound.count() - 1;
    const bool latest_of_all = dice_.permille(500);
    provider_.late_by =
        milliseconds{latest_of_all ? latest : 1 + dice_.roll(static_cast<int>(latest))};
  }
  return fate;
}

journal::CommitFate RandomWorld::fate_of_commit() {
  if (calm_ || !dice_.permille(weather_.commit)) return journal::CommitFate::normal;
  return dice_.roll(2) == 0 ? journal::CommitFate::stored_unanswered
                            : journal::CommitFate::lost_unanswered;
}

Now RandomWorld::now() const {
  Now now;
  now.wall = Timestamp{true_.ms + wall_skew_ms_};
  now.boottime_ms = true_.ms - boot_at_ms_;
  now.boot = boot_;
  if (knows_provider_time_) now.provider = true_;
  return now;
}

bool RandomWorld::offers_permit() {
  return calm_ || !dice_.permille(weather_.no_permit);
}

void RandomWorld::committed(const CommitUnit& unit) {
  judge_.read(*reader());
  if (!judge_.broken().empty()) broke(judge_.broken());
  if (!unit.caps.empty()) check_caps();
}

void RandomWorld::called(const ExternalRequest& request, const ExternalAnswer& answer) {
  note("call " + std::string(to_text(request.operation)) + " " + request.key.value() + " " +
       request.target + " -> " + std::string(to_text(answer.observation)));
  if (!is_look_up(request.operation)) judge_.on_wire(request);
  if (!judge_.broken().empty()) broke(judge_.broken());
  const bool answered =
      answer.observation != Observation::not_sent && answer.observation != Observation::broken;
  // The provider port learns the provider's time from the first answer of a process.
  knows_provider_time_ = knows_provider_time_ || answered;
  for (const auto& owed : owed_) {
    if (charges_of(owed.key).size() > 1) broke("charged twice: " + to_display(owed.key));
  }
}

void RandomWorld::told(ReplyTo to, const billing::BillingReply& reply, bool last) {
  const auto open = open_.find(to.value);
  if (open == open_.end()) return broke("a reply to nobody");
  const Owed& owed = owed_[open->second];
  note("reply " + std::to_string(reply.index()) + " to " + to_display(owed.key));
  if (const auto* told = std::get_if<billing::Told>(&reply)) check_told(*told);
  if (const auto* conflict = std::get_if<billing::Conflict>(&reply)) {
    if (!conflict->existing || conflict->existing->amount != owed.amount) {
      broke("a conflict that does not tell the frozen amount");
    }
  }
  if (last) open_.erase(open);
}

// --- what happens ---

void RandomWorld::set_cap() {
  if (!dice_.permille(300)) return;
  limit_minor_ = 1000 * (1 + dice_.roll(12));
  CommitUnit unit;
  unit.persistence_id = PersistenceId{"cap/2026"};
  unit.epoch = journal_.epoch_of(ShardNr{});
  unit.writer = WriterId{"world"};
  unit.at = true_;
  for (const char* text : periods) {
    unit.limits.push_back({*BillingPeriod::parse(text), CustomerId{}, Money{limit_minor_, usd}});
  }
  const auto answers = journal_.commit({&unit, 1});
  ONCEWARD_CHECK(answers.size() == 1, "one unit, one answer");
}

void RandomWorld::pass(milliseconds time) {
  true_ = true_.plus(time);
  provider_.deliver_late(true_);
  note("pass " + std::to_string(time.count()));
}

void RandomWorld::bill() {
  const auto index = static_cast<std::size_t>(dice_.roll(static_cast<int>(owed_.size())));
  Owed& owed = owed_[index];
  BillCustomer bill;
  bill.key = owed.key;
  bill.amount = owed.amount;
  // Another amount is a conflict once the first is recorded; before that it would be the first.
  if (row(owed.key) && dice_.permille(150)) bill.amount.minor += 1;
  bill.payment_method = PaymentMethod{"pm_1"};
  bill.provider_customer = ProviderCustomer{"cus_1"};
  bill.request_id = RequestId{"req-" + std::to_string(dice_.roll(3))};
  bill.notify = static_cast<Notify>(dice_.roll(3));
  if (dice_.permille(300)) {
    const std::string same = to_display(owed.key) + std::to_string(bill.amount.minor);
    bill.caller_mark = Mark{"caller/anonymous", same, same, std::nullopt};
  }
  owed.asked = true;
  open_[++commands_] = index;
  note("bill " + to_display(bill.key) + " " + std::to_string(bill.amount.minor));
  step(input::Command{billing::BillingCommand{std::move(bill)}, ReplyTo{commands_}});
}

void RandomWorld::look_again() {
  const auto index = static_cast<std::size_t>(dice_.roll(static_cast<int>(owed_.size())));
  open_[++commands_] = index;
  note("look again " + to_display(owed_[index].key));
  step(input::Command{billing::BillingCommand{billing::LookAgain{owed_[index].key, "ann", "why"}},
                      ReplyTo{commands_}});
}

void RandomWorld::call_off() {
  const auto index = static_cast<std::size_t>(dice_.roll(static_cast<int>(owed_.size())));
  open_[++commands_] = index;
  const auto id = RequestId{"off-" + std::to_string(dice_.roll(4))};
  note("call off " + to_display(owed_[index].key) + " " + id.value());
  if (dice_.roll(3) == 0) {
    billing::ResolveObligation verdict;
    verdict.key = owed_[index].key;
    verdict.resolution = billing::Resolution::written_off;
    verdict.mark = mark_of(verdict, id);
    return step(input::Command{billing::BillingCommand{verdict}, ReplyTo{commands_}});
  }
  billing::CancelObligation cancel;
  cancel.key = owed_[index].key;
  cancel.notify = static_cast<Notify>(dice_.roll(2));
  cancel.mark = mark_of(cancel, id);
  step(input::Command{billing::BillingCommand{cancel}, ReplyTo{commands_}});
}

void RandomWorld::set_method() {
  open_[++commands_] = 0;
  billing::SetPaymentMethod method;
  method.customer = customer_;
  method.payment_method = PaymentMethod{"pm_" + std::to_string(1 + dice_.roll(3))};
  method.mark = mark_of(method, RequestId{"pm-" + std::to_string(dice_.roll(6))});
  note("method " + method.payment_method.value());
  step(input::Command{billing::BillingCommand{method}, ReplyTo{commands_}});
}

void RandomWorld::meddle() {
  switch (dice_.roll(7)) {
    case 4:
      return call_off();
    case 5:
      return set_method();
    case 6: {
      const std::array codes = {"insufficient_funds", "expired_card", "stolen_card", "odd_code"};
      provider_.decline_code = codes[static_cast<std::size_t>(dice_.roll(4))];
      return note("refusals say " + provider_.decline_code);
    }
    case 0:
      note("intents canceled");
      return provider_.cancel_open_intents();
    case 1:
    case 2:
      note("processing finished");
      return provider_.finish_processing(dice_.roll(2) == 0);
    default:
      return look_again();
  }
}

void RandomWorld::deliver(std::size_t index) {
  Input next = std::move(inputs_[index]);
  inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(index));
  step(std::move(next));
}

// Performs what the last step put out; false if the process died on the way.
bool RandomWorld::drain() {
  while (!outputs_.empty()) {
    if (!calm_ && dice_.permille(weather_.jump / 4)) pass(minutes{dice_.roll(30)});
    Output next = std::move(outputs_.front());
    outputs_.pop_front();
    perform(std::move(next));
  }
  return is_up();
}

std::vector<ObligationRow> RandomWorld::rows() const {
  if (journal_.barrier_pending()) return {};
  auto rows = reader()->rows_of(customer_);
  return rows ? *rows : std::vector<ObligationRow>{};
}

// The alarm clock of the node; false if nothing rings before `until`.
bool RandomWorld::wake_next(Timestamp until) {
  std::optional<Timestamp> next;
  for (const auto& row : rows()) {
    if (row.next_action_at && (!next || *row.next_action_at < *next)) next = row.next_action_at;
  }
  if (!next || until < *next) return false;
  const std::int64_t wait = next->ms - now().wall.ms;
  if (wait > 0) pass(milliseconds{wait});
  if (!is_up()) start();
  note("wake");
  step(input::Wake{});
  return true;
}

void RandomWorld::act() {
  if (!is_up()) {
    note("start");
    return start();
  }
  if (dice_.permille(weather_.actor)) return meddle();
  if (dice_.permille(weather_.clock)) {
    wall_skew_ms_ = dice_.roll(2) == 0 ? 0 : dice_.roll(14'400'000) - 7'200'000;
    return;
  }
  if (dice_.permille(weather_.jump)) return pass(minutes{dice_.roll(30 * 60)});
  if (!inputs_.empty() && dice_.roll(10) < 7) {
    return deliver(static_cast<std::size_t>(dice_.roll(static_cast<int>(inputs_.size()))));
  }
  if (dice_.roll(3) == 0) return bill();
  if (dice_.roll(2) == 0) return pass(milliseconds{dice_.roll(5'000)});
  (void)wake_next(now().wall.plus(hours{2}));
}

// Faults have ended: within two days nothing may be left that only waits for us.
void RandomWorld::come_to_rest() {
  constexpr int steps_max = 3'000;
  calm_ = true;
  wall_skew_ms_ = 0;
  note("calm");
  const Timestamp deadline = true_.plus(hours{48});
  for (int steps = 0; broken_.empty(); ++steps) {
    if (steps == steps_max) return broke("did not come to rest");
    provider_.finish_processing(true);
    if (!is_up()) start();
    if (!drain()) continue;
    if (!inputs_.empty()) {
      deliver(0);
    } else if (!std::any_of(owed_.begin(), owed_.end(), [](const Owed& o) { return o.asked; }) ||
               !wake_next(deadline)) {
      return;
    }
  }
}

void RandomWorld::run() {
  set_cap();
  start();
  for (int actions = 0; actions < actions_max && broken_.empty(); ++actions) {
    (void)drain();
    act();
  }
  (void)drain();
  if (broken_.empty()) come_to_rest();
  if (broken_.empty()) check_end();
  for (const auto& row : rows()) {
    note(to_display(row.key) + " " + std::string(to_text(row.status)) + " " + row.charge_id + " " +
         row.reason + " " + std::to_string(row.updated_at.ms));
  }
  note(std::to_string(judge_.events()) + " events");
}

}  // namespace onceward::testing
