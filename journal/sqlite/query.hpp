// Reading rows of a cached statement one by one. Private to journal.
#pragma once

#include <string_view>
#include <utility>

#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

/// What a taker of rows wants next.
enum class Go : std::uint8_t { on, stop };

/// Binds the values and feeds each row to `take(statement) -> Result<Go>` until it stops or fails.
/// The statement is reset when this returns.
template <class Take, class... Values>
[[nodiscard]] Result<Unit> for_each_row(platform::SqliteConnection& connection,
                                        std::string_view sql, Take take, const Values&... values) {
  using Step = platform::SqliteStatement::Step;
  const auto prepared = connection.cached(sql);
  if (!prepared.has_value()) return Unexpected{prepared.error()};
  platform::SqliteStatement& statement = **prepared;
  statement.bind(values...);
  for (;;) {
    const Step step = statement.step();
    if (step == Step::failed) return Unexpected{statement.error()};
    if (step == Step::done) return ok();
    Result<Go> taken = take(std::as_const(statement));
    if (taken.has_value() && *taken == Go::on) continue;
    statement.reset();
    if (taken.has_value()) return ok();
    return Unexpected{std::move(taken).error()};
  }
}

}  // namespace onceward::journal::sqlite
