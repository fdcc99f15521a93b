// What happens in a ChaosRun, and its judgement.
#include "tests/cases/chaos_run.hpp"

#include <algorithm>
#include <array>

namespace onceward::cases {

namespace {

constexpr std::array periods = {"2026-06", "2026-07", "2026-08"};
constexpr std::int64_t price = 9'900;

CaseOptions world_options(const ChaosOptions& options) {
  CaseOptions world = CaseWorld::options(options.flow);
  world.seed = options.seed;
  return world;
}

// Whether it is over, or an operator or the customer sees that it is his turn, or the date of the
// next try is known.
bool is_at_rest(Status status) {
  switch (status) {
    case Status::completed:
    case Status::waived:
    case Status::cancelled:
    case Status::uncollectible:
    case Status::declined:
    case Status::parked:
    case Status::rejected:
    case Status::capped:
    case Status::action_required:
      return true;
    case Status::in_progress:
    case Status::processing:
    case Status::unknown:
      return false;
  }
  return false;
}

bool is_at_rest(RefundStatus status) {
  switch (status) {
    case RefundStatus::succeeded:
    case RefundStatus::failed:
    case RefundStatus::parked:
      return true;
    case RefundStatus::in_progress:
    case RefundStatus::unknown:
    case RefundStatus::pending:
      return false;
  }
  return false;
}

}  // namespace

ChaosRun::ChaosRun(const ChaosOptions& options)
    : options_(options), random_(options.seed), world_(world_options(options)), edge_(world_) {
  // Half of the seeds meet the POST that the HTTP client sends again by itself.
  world_.port().keeps_connections = options.seed % 2 == 0;
}

Timestamp ChaosRun::within(std::chrono::minutes time) {
  const auto seconds = std::chrono::seconds(time).count();
  return world_.now().plus(std::chrono::seconds(roll(static_cast<int>(seconds))));
}

// As a caller does: until there is something to be read.
void ChaosRun::ask(const ObligationKey& key) {
  if (!world_.row(key)) {
    (void)world_.bill(key.customer.value(), key.period.text(), price);
    world_.after(1min, [this, key] { ask(key); });
  }
}

void ChaosRun::refund(const ObligationKey& key) {
  RefundObligation refund;
  refund.key = key;
  refund.amount_minor = price / 3;
  refund.mark = Mark{"refund", to_display(key), "1", std::nullopt};
  refund.who = "ann";
  refund.why = "customer asked";
  (void)world_.send(refund);
}

void ChaosRun::plan_kills() {
  constexpr std::array points = {CrashPoint::before_claim,  CrashPoint::inside_claim,
                                 CrashPoint::after_claim,   CrashPoint::after_started,
                                 CrashPoint::on_the_wire,   CrashPoint::answer_read,
                                 CrashPoint::result_stored, CrashPoint::after_reply};
  constexpr std::array downtimes = {2s, 60s, 1'200s};
  for (int kill = 0; kill < options_.kills; ++kill) {
    // Most while the bills come in: then there is most to lose.
    const Timestamp when = within(kill % 3 == 0 ? options_.lasts : 2h);
    const auto point = points.at(static_cast<std::size_t>(roll(points.size())));
    const auto downtime = downtimes.at(static_cast<std::size_t>(roll(downtimes.size())));
    const int nth = 1 + roll(20);
    const bool is_anywhere = roll(3) == 0;
    world_.at(when, [this, is_anywhere, point, nth, downtime] {
      if (!is_anywhere) return world_.crash_at(point, nth);
      if (!world_.node().is_up) return;
      world_.kill();
      world_.after(downtime, [this] {
        if (!world_.node().is_up) world_.start();
      });
    });
  }
}

void ChaosRun::run() {
  auto& provider = world_.port().provider();
  const auto set = provider.set_chaos({options_.seed, options_.percent, {}});
  ONCEWARD_CHECK(set.has_value(), "chaos is set");
  for (int nr = 1; nr <= options_.customers; ++nr) {
    for (const char* period : periods) {
      const auto key = CaseWorld::key_of("cus_" + std::to_string(nr), period);
      const Timestamp first = within(2h);
      world_.at(first, [this, key] { ask(key); });
      if (roll(10) == 0) {
        world_.at(within(3h), [this, key] {
          (void)world_.bill(key.customer.value(), key.period.text(), price, "r2");
        });
      }
      if (roll(10) == 0) world_.at(first.plus(3h), [this, key] { refund(key); });
    }
  }
  plan_kills();
  world_.run_for(options_.lasts);
  figures_.faults = provider.chaos_drawn();
  ONCEWARD_CHECK(provider.set_chaos({options_.seed, 0, {}}).has_value(), "chaos ends");
  world_.run_for(48h);
}

std::string ChaosRun::verdict() {
  std::string found = world_.audit();
  for (const auto& one : world_.quarantines()) found += "quarantined: " + one + "; ";
  judge_rows(found);
  judge_charges(found);
  judge_refunds(found);
  count_posts();
  figures_.kills = world_.crashes();
  return found;
}

void ChaosRun::judge_rows(std::string& found) {
  for (const auto& row : world_.all_rows()) {
    ++figures_.obligations;
    ++figures_.statuses[row.status];
    if (is_at_rest(row.status)) continue;
    found += to_display(row.key) + " is still " + std::string(to_text(row.status)) + " (" +
             row.reason + "); ";
  }
  const int owed = options_.customers * static_cast<int>(periods.size());
  if (figures_.obligations != owed) found += "obligations got lost; ";
}

void ChaosRun::judge_charges(std::string& found) {
  const auto& ledger = world_.port().provider().ledger();
  figures_.charges = static_cast<int>(ledger.rows().size());
  const auto twice = ledger.groups_above({"customer", "period", "purpose"}, 1);
  if (!twice || !twice->empty()) found += "charged twice; ";
  int completed = 0;
  for (const auto& row : world_.all_rows()) {
    const bool is_completed = row.status == Status::completed && !row.charge_id.empty();
    completed += is_completed ? 1 : 0;
    if (is_completed || world_.L(row.key.customer.value(), row.key.period.text()) == 0) continue;
    found += to_display(row.key) + " is charged and " + std::string(to_text(row.status)) + " (" +
             row.reason + "); ";
  }
  if (completed != figures_.charges) {
    found += std::to_string(figures_.charges) + " charges, but " + std::to_string(completed) +
             " completed with a charge id; ";
  }
}

void ChaosRun::judge_refunds(std::string& found) {
  const auto rows = world_.reader()->refunds({});
  ONCEWARD_CHECK(rows.has_value(), "the refunds can be read");
  int succeeded = 0;
  for (const auto& row : *rows) {
    ++figures_.refunds[row.status];
    succeeded += row.status == RefundStatus::succeeded ? 1 : 0;
    if (is_at_rest(row.status)) continue;
    found += "a refund of " + to_display(row.obligation) + " is still " +
             std::string(to_text(row.status)) + " (" + row.reason + "); ";
  }
  const auto given = world_.port().provider().ledger().refunds().size();
  if (given != static_cast<std::size_t>(succeeded)) {
    found += std::to_string(given) + " refunds in the ledger, but " + std::to_string(succeeded) +
             " succeeded; ";
  }
}

void ChaosRun::count_posts() {
  for (const auto& [key, posts] : world_.posts_by_obligation()) {
    figures_.posts += posts;
    figures_.posts_most = std::max(figures_.posts_most, posts);
  }
  std::map<std::string, int> by_key;
  for (const auto& post : world_.port().posts()) {
    figures_.posts_with_key_most = std::max(figures_.posts_with_key_most, ++by_key[post.key]);
  }
}

void ChaosRun::Figures::add(const Figures& other) {
  for (const auto& [status, count] : other.statuses) statuses[status] += count;
  for (const auto& [status, count] : other.refunds) refunds[status] += count;
  for (const auto& [kind, count] : other.faults) faults[kind] += count;
  obligations += other.obligations;
  charges += other.charges;
  kills += other.kills;
  posts += other.posts;
  posts_most = std::max(posts_most, other.posts_most);
  posts_with_key_most = std::max(posts_with_key_most, other.posts_with_key_most);
}

std::string ChaosRun::Figures::text() const {
  std::uint64_t all_faults = 0;
  for (const auto& [kind, count] : faults) all_faults += count;
  std::string text = std::to_string(obligations) + " obligations, " + std::to_string(charges) +
                     " charges, " + std::to_string(kills) + " kills, " +
                     std::to_string(all_faults) + " faults of " + std::to_string(faults.size()) +
                     " kinds; POSTs: " + std::to_string(posts) + ", at most " +
                     std::to_string(posts_most) + " of one obligation, " +
                     std::to_string(posts_with_key_most) + " of one key;";
  for (const auto& [status, count] : statuses) {
    text += " " + std::string(to_text(status)) + " " + std::to_string(count);
  }
  text += "; refunds:";
  for (const auto& [status, count] : refunds) {
    text += " " + std::string(to_text(status)) + " " + std::to_string(count);
  }
  return text;
}

}  // namespace onceward::cases
