// Columns to values.
#include "journal/sqlite/row_columns.hpp"

#include <algorithm>
#include <string>

namespace onceward::journal::sqlite {
namespace {

using platform::SqliteStatement;

Unexpected damaged(const SqliteStatement& statement, int first, const std::string& what) {
  return fail(ErrorCode::store_corrupt, "obligation row of customer " +
                                            std::string(statement.text(first + 1)) + ", period " +
                                            std::string(statement.text(first)) + ": " + what);
}

std::optional<Timestamp> optional_time(const SqliteStatement& statement, int column) {
  const auto ms = statement.optional_integer(column);
  return ms ? std::optional(Timestamp{*ms}) : std::nullopt;
}

}  // namespace

Result<ObligationRow> read_row(const SqliteStatement& statement, int first) {
  auto period = BillingPeriod::parse(statement.text(first));
  if (!period.has_value()) return damaged(statement, first, period.error().context);
  const auto status = parse_obligation_status(statement.text(first + 3));
  if (!status.has_value()) return damaged(statement, first, status.error().context);
  const auto currency = Currency::parse(statement.text(first + 5));
  if (!currency.has_value()) return damaged(statement, first, currency.error().context);
  const auto text = [&](int column) { return std::string(statement.text(first + column)); };
  ObligationRow row;
  row.key = {CustomerId(text(1)), std::move(period).value(), Purpose(text(2))};
  row.status = *status;
  row.amount = Money{statement.integer(first + 4), *currency};
  row.charge_id = text(6);
  row.attempt = static_cast<std::uint32_t>(statement.integer(first + 7));
  row.decline_code = text(8);
  row.reason = text(9);
  row.request_id = RequestId(text(10));
  row.initiated_at = Timestamp{statement.integer(first + 11)};
  row.updated_at = Timestamp{statement.integer(first + 12)};
  row.next_action_at = optional_time(statement, first + 13);
  row.next_attempt_at = optional_time(statement, first + 14);
  return row;
}

Result<RefundRow> read_refund(const SqliteStatement& statement) {
  const auto text = [&](int column) { return std::string(statement.text(column)); };
  const auto damaged_refund = [&](const std::string& what) {
    return fail(ErrorCode::store_corrupt, "refund of customer " + text(0) + ", period " + text(1) +
                                              ", number " + std::to_string(statement.integer(3)) +
                                              ": " + what);
  };
  auto period = BillingPeriod::parse(statement.text(1));
  if (!period.has_value()) return damaged_refund(period.error().context);
  const auto currency = Currency::parse(statement.text(5));
  if (!currency.has_value()) return damaged_refund(currency.error().context);
  const auto status = parse_refund_status(statement.text(6));
  if (!status.has_value()) return damaged_refund(status.error().context);
  RefundRow row;
  row.obligation = {CustomerId(text(0)), std::move(period).value(), Purpose(text(2))};
  row.number = static_cast<std::uint32_t>(statement.integer(3));
  row.amount = Money{statement.integer(4), *currency};
  row.status = *status;
  row.refund_id = text(7);
  row.reason = text(8);
  row.request_id = RequestId(text(9));
  row.who = text(10);
  row.why = text(11);
  row.requested_at = Timestamp{statement.integer(12)};
  row.updated_at = Timestamp{statement.integer(13)};
  row.next_action_at = optional_time(statement, 14);
  return row;
}

Result<Digest> read_digest(const SqliteStatement& statement, int column) {
  const auto bytes = statement.blob(column);
  Digest digest;
  if (bytes.size() != digest.bytes.size()) {
    return fail(ErrorCode::store_corrupt,
                "a stored hash has " + std::to_string(bytes.size()) + " bytes instead of 32");
  }
  std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
  return digest;
}

Result<StoredEvent> read_event(const SqliteStatement& statement, int first) {
  auto head = read_digest(statement, first + 7);
  if (!head.has_value()) return Unexpected{std::move(head).error()};
  return StoredEvent{
      SequenceNr{static_cast<std::uint64_t>(statement.integer(first))},
      EncodedEvent{Manifest{std::string(statement.text(first + 1)),
                            static_cast<std::uint32_t>(statement.integer(first + 2))},
                   std::string(statement.text(first + 3))},
      Epoch{static_cast<std::uint64_t>(statement.integer(first + 4))},
      WriterId(std::string(statement.text(first + 5))),
      Timestamp{statement.integer(first + 6)},
      *head};
}

}  // namespace onceward::journal::sqlite
