// The course of one request to bill. Whatever thread comes first answers; nobody answers twice.
#include "ingress/http/bill_exchange.hpp"

#include <any>
#include <atomic>

#include "ingress/http/row_watch.hpp"

namespace onceward::ingress {

namespace {

/// Shared by the runtime's sink, the alarm and the reader threads: whoever comes first answers.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Services& services, Call call, BillRequest request)
      : services_(services),
        call_(std::move(call)),
        request_(std::move(request)),
        started_ms_(services.now().boottime_ms) {}

  void begin() {
    auto entered = services_.keys.enter(caller_scope(call_.principal), request_.caller_key,
                                        request_.fingerprint);
    switch (entered.entry) {
      case CallerKeys::Entry::entered:
        ticket_ = std::move(entered.ticket);
        break;
      case CallerKeys::Entry::in_handler:
        return in_progress();
      case CallerKeys::Entry::other_payload:
        return key_reused();
      case CallerKeys::Entry::full:
        return turned_away(ProblemKind::busy, "too many requests are being handled");
    }
    if (auto why = services_.ports.not_ready()) {
      return turned_away(ProblemKind::not_ready, std::move(*why));
    }
    read(
        [self = shared_from_this()](journal::JournalReader& reader) { self->look_up_key(reader); });
  }

 private:
  void look_up_key(journal::JournalReader& reader) {
    auto mark =
        reader.mark(caller_scope(call_.principal), request_.caller_key, services_.now().wall);
    if (!mark) return finish(read_failed(mark.error()));
    if (!*mark) return hand_over();
    if ((*mark)->fingerprint != request_.fingerprint) return key_reused();
    is_replay_ = true;
    const Watch watch{.key = request_.key, .until_boottime_ms = wait_end_ms()};
    watch_row(services_, watch,
              [self = shared_from_this()](Result<RowLook> look) { self->replay(std::move(look)); });
  }

  void replay(Result<RowLook> look) {
    if (!look) return finish(read_failed(look.error()));
    // A mark without a row is not ours to explain: the entity knows.
    if (!look->row) return hand_over();
    answer_look(*look);
  }

  void hand_over() {
    services_.under_way.add(request_.key);
    const std::int64_t at =
        request_.wait.seconds > 0 ? wait_end_ms() : started_ms_ + services_.acceptance_ms_max;
    // If no further alarm can be set, the runtime's own answer ends the wait.
    const auto alarm = services_.alarms.set(at, [self = shared_from_this()] {
      self->read_state(self->started_ms_ + self->services_.acceptance_ms_max);
    });
    {
      const std::lock_guard lock(mutex_);
      alarm_ = alarm;
    }
    auto command = to_command(request_, call_.principal, services_.now().wall);
    services_.ports.runtime.ask(
        customer_persistence_id(request_.key.customer),
        std::any(billing::BillingCommand(std::move(command))),
        [self = shared_from_this()](std::any reply) { self->told(std::move(reply)); });
  }

  /// The wait is over and the runtime has not answered: what is stored is all that can be said. A
  /// slow store gets until `until_ms` to show the row.
  void read_state(std::int64_t until_ms) {
    if (answered_) return;
    read([self = shared_from_this(), until_ms](journal::JournalReader& reader) {
      auto look = look_at(reader, self->request_.key);
      if (!look) return self->finish(read_failed(look.error()));
      if (look->row) return self->answer_look(*look);
      constexpr std::int64_t pause_ms = 50;
      const std::int64_t now_ms = self->services_.now().boottime_ms;
      const bool goes_on = now_ms < until_ms &&
                           self->services_.alarms.set(
                               now_ms + pause_ms, [self, until_ms] { self->read_state(until_ms); });
      if (!goes_on) self->unknown("the node has not said yet whether it recorded the request");
    });
  }

  void told(std::any reply) {
    if (!was_told_.exchange(true)) services_.under_way.remove(request_.key);
    const auto* known = std::any_cast<billing::BillingReply>(&reply);
    if (known == nullptr) return unknown("the node answered with what this route does not know");
    std::visit([this](const auto& alternative) { on(alternative); }, *known);
  }

  void on(const billing::Told& told) {
    if (told.replayed) is_replay_ = true;
    answer_state(told.row, told.deduplicated, std::nullopt);
  }

  void on(const billing::Conflict& conflict) {
    Problem problem;
    problem.detail = conflict.detail;
    problem.kind = conflict_kind(conflict.kind);
    if (conflict.existing) {
      problem.charge_state = status_row(conflict.existing->status).charge_state;
      problem.members = obligation_json({.row = *conflict.existing});
    }
    finish(problem_answer(std::move(problem)));
  }

  void on(const billing::CallerKeyReused&) { key_reused(); }

  void on(const billing::Refused& refused) {
    finish(bad_request(Error{ErrorCode::invalid_argument, refused.detail}));
  }

  void on(const billing::TurnedDown& turned_down) {
    switch (turned_down.why) {
      case Turndown::busy:
        return turned_away(ProblemKind::busy, "the node has too much to do, or is stopping");
      case Turndown::uncertain:
        return unknown("the store did not say whether it recorded the request");
      case Turndown::quarantined:
        return quarantined();
      case Turndown::invalid:
        return finish(bad_request(
            Error{ErrorCode::invalid_argument, "the request is too large to be recorded"}));
    }
  }

  template <class OtherReply>
  void on(const OtherReply&) {
    unknown("the node answered another question than was asked");
  }

  static ProblemKind conflict_kind(billing::Conflict::Kind kind) {
    switch (kind) {
      case billing::Conflict::Kind::amount:
      case billing::Conflict::Kind::provider_customer:
        return ProblemKind::obligation_conflict;
      case billing::Conflict::Kind::granularity:
        return ProblemKind::period_granularity;
      case billing::Conflict::Kind::period_not_begun:
        return ProblemKind::period_not_begun;
    }
    return ProblemKind::obligation_conflict;
  }

  /// A row read beside the entity, which alone knows who made it: its request id tells.
  void answer_look(const RowLook& look) {
    answer_state(*look.row, look.row->request_id.value() != request_.caller_key, look.quarantined);
  }

  void answer_state(const ObligationRow& row, bool deduplicated,
                    const std::optional<journal::Quarantined>& quarantined) {
    if (row.amount != request_.amount) return amount_conflict(row);
    finish(post_answer({.row = row,
                        .deduplicated = deduplicated,
                        .quarantined = quarantined ? &*quarantined : nullptr}));
  }

  /// A row read beside the entity may belong to a request with another amount.
  void amount_conflict(const ObligationRow& row) {
    billing::Conflict conflict;
    conflict.existing = row;
    conflict.detail = to_display(row.key) + " is recorded with " + to_display(row.amount) +
                      ", not " + to_display(request_.amount) + "; ask for the recorded amount";
    on(conflict);
  }

  void in_progress() {
    Problem problem;
    problem.kind = ProblemKind::request_in_progress;
    problem.detail = "the first request with this key has not been answered yet; repeat it later";
    problem.charge_state = ChargeState::unknown;
    problem.retry_after_s = 1;
    finish(problem_answer(std::move(problem)));
  }

  void key_reused() {
    Problem problem;
    problem.kind = ProblemKind::key_reused;
    problem.detail =
        "the Idempotency-Key was used with another payload; use a new key, or the "
        "payload of the first request";
    finish_with_money(std::move(problem));
  }

  void unknown(std::string detail) {
    Problem problem;
    problem.kind = ProblemKind::store_uncertain;
    problem.detail = std::move(detail) + "; repeat it with the same key";
    problem.charge_state = ChargeState::unknown;
    problem.retry_after_s = 1;
    finish(problem_answer(std::move(problem)));
  }

  void turned_away(ProblemKind kind, std::string detail) {
    Problem problem;
    problem.kind = kind;
    problem.detail = std::move(detail) + "; repeat it with the same key";
    problem.retry_after_s = 1;
    finish_with_money(std::move(problem));
  }

  /// For a request that recorded nothing itself. What is said about the money of its obligation
  /// needs a look: `none` only if there is no row and nothing under way that could make one.
  void finish_with_money(Problem problem) {
    problem.charge_state = ChargeState::unknown;
    const bool may_appear = services_.under_way.any(request_.key);
    const bool posted = services_.pool.post(
        [self = shared_from_this(), problem, may_appear](journal::JournalReader& reader) mutable {
          const auto row = reader.row(self->request_.key);
          if (row && *row) problem.charge_state = status_row((*row)->status).charge_state;
          if (row && !*row && !may_appear) problem.charge_state = ChargeState::none;
          self->finish(problem_answer(std::move(problem)));
        });
    if (!posted) finish(problem_answer(std::move(problem)));
  }

  void quarantined() {
    read([self = shared_from_this()](journal::JournalReader& reader) {
      auto look = look_at(reader, self->request_.key);
      if (!look) return self->finish(read_failed(look.error()));
      if (look->row && !is_open(look->row->status)) {
        return self->answer_look(*look);
      }
      Problem problem;
      problem.kind = ProblemKind::entity_quarantined;
      problem.detail = "the customer's history must be looked at by an operator first";
      if (look->quarantined) problem.detail += ": " + look->quarantined->reason;
      if (look->row) {
        problem.charge_state = status_row(look->row->status).charge_state;
        problem.members = obligation_json({.row = *look->row});
      }
      self->finish(problem_answer(std::move(problem)));
    });
  }

  void read(ReadPool::Task task) {
    if (services_.pool.post(std::move(task))) return;
    unknown("too many reads are waiting");
  }

  [[nodiscard]] std::int64_t wait_end_ms() const {
    return started_ms_ + request_.wait.seconds * 1000;
  }

  void finish(platform::HttpResponse response) {
    if (answered_.exchange(true)) return;
    std::optional<Alarms::Id> alarm;
    {
      const std::lock_guard lock(mutex_);
      alarm = alarm_;
    }
    if (alarm) services_.alarms.cancel(*alarm);
    // Given back before the answer leaves: who repeats at once must not meet himself.
    ticket_.release();
    if (is_replay_) add_header(response, "Idempotent-Replayed", "true");
    if (request_.wait.was_asked) {
      add_header(response, "Preference-Applied", "wait=" + std::to_string(request_.wait.seconds));
    }
    call_.answer(std::move(response));
  }

  Services& services_;
  Call call_;
  const BillRequest request_;
  const std::int64_t started_ms_;
  CallerKeys::Ticket ticket_;
  std::mutex mutex_;
  std::optional<Alarms::Id> alarm_;  // guarded
  std::atomic<bool> is_replay_ = false;
  std::atomic<bool> answered_ = false;
  std::atomic<bool> was_told_ = false;
};

}  // namespace

void bill(Services& services, Call call, BillRequest request) {
  std::make_shared<Exchange>(services, std::move(call), std::move(request))->begin();
}

}  // namespace onceward::ingress
