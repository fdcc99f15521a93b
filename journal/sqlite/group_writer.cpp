// The transaction of one group: begin, check, write, commit. The order of the checks is that of the
// port's contract.
#include "journal/sqlite/group_writer.hpp"

#include "journal/history.hpp"
#include "journal/refusals.hpp"
#include "journal/sqlite/row_columns.hpp"

namespace onceward::journal::sqlite {

Result<GroupWriter> GroupWriter::on(platform::SqliteConnection& connection) {
  auto statements = WriterStatements::prepare(connection);
  if (!statements.has_value()) return Unexpected{std::move(statements).error()};
  return GroupWriter(connection, *statements);
}

Result<Unit> GroupWriter::begin() {
  if (auto begun = statements_.begin->run(); !begun.has_value()) return begun;
  auto& version = *statements_.data_version;
  const auto found = has_row(version);
  if (!found.has_value()) return Unexpected{found.error()};
  const std::int64_t now = version.integer(0);
  version.reset();
  if (now == data_version_) return ok();
  data_version_ = now;
  return refresh();
}

Result<Unit> GroupWriter::refresh() {
  caps_.forget();
  const auto state = read_store_state(*connection_);
  if (!state.has_value()) return Unexpected{state.error()};
  state_ = *state;
  if (auto read = read_epochs(); !read.has_value()) return read;
  auto& last = *statements_.last_entity;
  const auto found = has_row(last);
  if (!found.has_value()) return Unexpected{found.error()};
  last_entity_ = last.integer(0);
  last.reset();
  return ok();
}

Result<Unit> GroupWriter::read_epochs() {
  epochs_.clear();
  auto& read = *statements_.read_epochs;
  for (;;) {
    const auto found = has_row(read);
    if (!found.has_value()) return Unexpected{found.error()};
    if (!*found) return ok();
    ONCEWARD_CHECK(static_cast<std::size_t>(read.integer(0)) == epochs_.size(),
                   "the shards were counted when the store was opened");
    epochs_.push_back(Epoch{static_cast<std::uint64_t>(read.integer(1))});
  }
}

Result<CommitAnswer> GroupWriter::apply(const CommitUnit& unit) {
  Findings findings;
  auto refusal = check(unit, findings);
  if (!refusal.has_value()) return Unexpected{std::move(refusal).error()};
  if (*refusal) return std::move(**refusal);
  auto stored = write(unit, findings);
  if (!stored.has_value()) return Unexpected{std::move(stored).error()};
  return CommitAnswer(*stored);
}

GroupWriter::Refusal GroupWriter::check(const CommitUnit& unit, Findings& findings) {
  if (unit.epoch != stored_epoch(unit.shard)) {
    return std::optional<CommitAnswer>(Fenced{Fenced::By::epoch});
  }
  auto refusal = check_history(unit, findings.entity);
  for (const RowWrite& write : unit.rows) {
    if (!refusal.has_value() || *refusal) return refusal;
    refusal = check_row(unit, write, findings);
  }
  for (const Mark& mark : unit.marks) {
    if (!refusal.has_value() || *refusal) return refusal;
    refusal = check_mark(unit, mark, findings);
  }
  if (!refusal.has_value() || *refusal) return refusal;
  auto plan = plan_caps(unit, caps_);
  if (!plan.has_value()) return Unexpected{std::move(plan).error()};
  if (auto* refused = std::get_if<CapRefused>(&*plan)) {
    return std::optional<CommitAnswer>(std::move(*refused));
  }
  if (auto* invalid = std::get_if<InvalidUnit>(&*plan)) {
    return std::optional<CommitAnswer>(std::move(*invalid));
  }
  findings.caps = std::move(std::get<CapChanges>(*plan));
  return std::optional<CommitAnswer>();
}

GroupWriter::Refusal GroupWriter::check_history(const CommitUnit& unit, Entity& entity) {
  auto& find = *statements_.find_entity;
  const auto found = has_row(find.bind(unit.persistence_id.value()));
  if (!found.has_value()) return Unexpected{found.error()};
  if (*found) {
    const auto head = read_digest(find, 2);
    if (!head.has_value()) return Unexpected{head.error()};
    entity = {find.integer(0), SequenceNr{static_cast<std::uint64_t>(find.integer(1))}, *head};
    find.reset();
  }
  if (unit.expected != entity.last || unit.head != entity.head) {
    return std::optional<CommitAnswer>(Fenced{Fenced::By::sequence});
  }
  return std::optional<CommitAnswer>();
}

GroupWriter::Refusal GroupWriter::check_row(const CommitUnit& unit, const RowWrite& write,
                                            Findings& findings) {
  const ObligationKey& key = write.row.key;
  const bool is_claim = write.kind == RowWrite::Kind::claim;
  auto& find = is_claim ? *statements_.find_row : *statements_.find_status;
  const auto found =
      has_row(find.bind(key.period.text(), key.customer.value(), key.purpose.value()));
  if (!found.has_value()) return Unexpected{found.error()};
  if (is_claim) {
    findings.was_open.push_back(false);
    if (!*found) return std::optional<CommitAnswer>();
    auto existing = read_row(find);
    find.reset();
    if (!existing.has_value()) return Unexpected{std::move(existing).error()};
    return std::optional<CommitAnswer>(ClaimRefused{std::move(existing).value()});
  }
  if (!*found) return std::optional<CommitAnswer>(InvalidUnit{absent_row_error(unit, key)});
  const auto status = parse_obligation_status(find.text(0));
  find.reset();
  if (!status.has_value()) {
    return fail(ErrorCode::store_corrupt, to_display(key) + ": " + status.error().context);
  }
  findings.was_open.push_back(is_open(*status));
  return std::optional<CommitAnswer>();
}

GroupWriter::Refusal GroupWriter::check_mark(const CommitUnit& unit, const Mark& mark,
                                             Findings& findings) {
  auto& find = *statements_.find_mark;
  const auto found = has_row(find.bind(mark.scope, mark.key));
  if (!found.has_value()) return Unexpected{found.error()};
  findings.is_new_mark.push_back(!*found);
  if (!*found) return std::optional<CommitAnswer>();
  Mark existing{mark.scope, mark.key, std::string(find.text(0)), std::nullopt};
  if (const auto ms = find.optional_integer(1)) existing.expires_at = Timestamp{*ms};
  find.reset();
  if (!is_alive(existing, unit.at)) return std::optional<CommitAnswer>();
  return std::optional<CommitAnswer>(MarkRefused{std::move(existing)});
}

Result<Stored> GroupWriter::write(const CommitUnit& unit, Findings& findings) {
  Entity& entity = findings.entity;
  if (!unit.events.empty()) {
    if (auto written = write_events(unit, entity); !written.has_value()) {
      return Unexpected{std::move(written).error()};
    }
  }
  for (std::size_t at = 0; at < unit.rows.size(); ++at) {
    if (auto written = write_row(unit, unit.rows[at], findings.was_open[at]);
        !written.has_value()) {
      return Unexpected{std::move(written).error()};
    }
  }
  for (const RefundRow& row : unit.refunds) {
    if (auto written = write_refund(row); !written.has_value()) {
      return Unexpected{std::move(written).error()};
    }
  }
  for (std::size_t at = 0; at < unit.marks.size(); ++at) {
    const Mark& mark = unit.marks[at];
    std::optional<std::int64_t> expires_at;
    if (mark.expires_at) expires_at = mark.expires_at->ms;
    auto written =
        statements_.put_mark->bind(mark.scope, mark.key, mark.fingerprint, expires_at).run();
    if (!written.has_value()) return Unexpected{std::move(written).error()};
    if (findings.is_new_mark[at]) ++state_.marks;
  }
  if (auto written = caps_.write(unit, findings.caps); !written.has_value()) {
    return Unexpected{std::move(written).error()};
  }
  if (unit.snapshot) {
    if (auto written = write_snapshot(unit, entity); !written.has_value()) {
      return Unexpected{std::move(written).error()};
    }
  }
  return Stored{entity.last, entity.head};
}

Result<Unit> GroupWriter::write_events(const CommitUnit& unit, Entity& entity) {
  const bool is_new = entity.id == 0;
  if (is_new) entity.id = last_entity_ + 1;
  for (std::size_t index = 0; index < unit.events.size(); ++index) {
    const EncodedEvent& event = unit.events[index];
    entity.head = head_after(entity.head, unit, index);
    entity.last = entity.last.plus(1);
    state_.rolling = rolling_after(state_.rolling, entity.head);
    auto written =
        statements_.insert_event
            ->bind(++state_.last_position, entity.id, entity.last.value, event.manifest.name,
                   event.manifest.version, event.payload, unit.epoch.value, unit.writer.value(),
                   unit.at.ms, bytes_of(entity.head))
            .run();
    if (!written.has_value()) return written;
  }
  if (!is_new) {
    return statements_.update_entity->bind(entity.id, entity.last.value, bytes_of(entity.head))
        .run();
  }
  ++last_entity_;
  return statements_.insert_entity
      ->bind(entity.id, unit.persistence_id.value(), unit.shard.value, entity.last.value,
             bytes_of(entity.head))
      .run();
}

Result<Unit> GroupWriter::write_row(const CommitUnit& unit, const RowWrite& write, bool was_open) {
  const ObligationRow& row = write.row;
  const bool is_claim = write.kind == RowWrite::Kind::claim;
  if (is_claim) ++state_.obligations;
  state_.open_obligations += static_cast<int>(is_open(row.status)) - static_cast<int>(was_open);
  std::optional<std::int64_t> next_action_at;
  if (row.next_action_at) next_action_at = row.next_action_at->ms;
  std::optional<std::int64_t> next_attempt_at;
  if (row.next_attempt_at) next_attempt_at = row.next_attempt_at->ms;
  auto& statement = is_claim ? *statements_.insert_row : *statements_.update_row;
  return statement
      .bind(row.key.period.text(), row.key.customer.value(), row.key.purpose.value(),
            to_text(row.status), row.amount.minor, row.amount.currency.text(), row.charge_id,
            row.attempt, row.decline_code, row.reason, row.request_id.value(), row.initiated_at.ms,
            row.updated_at.ms, next_action_at, next_attempt_at, unit.epoch.value)
      .run();
}

Result<Unit> GroupWriter::write_refund(const RefundRow& row) {
  std::optional<std::int64_t> next_action_at;
  if (row.next_action_at) next_action_at = row.next_action_at->ms;
  const ObligationKey& key = row.obligation;
  return statements_.put_refund
      ->bind(key.customer.value(), key.period.text(), key.purpose.value(), row.number,
             row.amount.minor, row.amount.currency.text(), to_text(row.status), row.refund_id,
             row.reason, row.request_id.value(), row.who, row.why, row.requested_at.ms,
             row.updated_at.ms, next_action_at)
      .run();
}

Result<Unit> GroupWriter::write_snapshot(const CommitUnit& unit, const Entity& entity) {
  return statements_.put_snapshot
      ->bind(entity.id, entity.last.value, bytes_of(entity.head), unit.snapshot->schema_version,
             unit.snapshot->payload)
      .run();
}

Result<Unit> GroupWriter::commit_group(bool with_commits_row) {
  ++state_.commit_count;
  if (auto flushed = caps_.flush(); !flushed.has_value()) return flushed;
  auto written = statements_.write_state
                     ->bind(state_.commit_count, state_.last_position, bytes_of(state_.rolling),
                            state_.obligations, state_.open_obligations, state_.marks)
                     .run();
  if (!written.has_value()) return written;
  return commit_other(with_commits_row);
}

Result<Unit> GroupWriter::commit_other(bool with_commits_row) {
  if (with_commits_row) {
    auto written = statements_.write_commits_row
                       ->bind(state_.commit_count, state_.last_position, bytes_of(state_.rolling))
                       .run();
    if (!written.has_value()) return written;
  }
  return statements_.commit->run();
}

Result<Unit> GroupWriter::roll_back() {
  return statements_.roll_back->run();
}

Result<Epoch> GroupWriter::raise_epoch(std::optional<ShardNr> only) {
  auto raised = only ? statements_.raise_one_epoch->bind(only->value).run()
                     : statements_.raise_all_epochs->run();
  if (!raised.has_value()) return Unexpected{std::move(raised).error()};
  if (auto read = read_epochs(); !read.has_value()) return Unexpected{std::move(read).error()};
  return epochs_.at(only ? only->value : 0);
}

}  // namespace onceward::journal::sqlite
