// The statements of the writing side, prepared once per connection. Private to journal.
#pragma once

#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

/// Pointers into the connection's cache; they live as long as the connection.
struct WriterStatements {
  using Statement = platform::SqliteStatement*;

  Statement begin = nullptr;
  Statement commit = nullptr;
  Statement roll_back = nullptr;
  Statement data_version = nullptr;
  Statement write_state = nullptr;
  Statement write_commits_row = nullptr;
  Statement read_epochs = nullptr;
  Statement raise_all_epochs = nullptr;
  Statement raise_one_epoch = nullptr;

  Statement find_entity = nullptr;
  Statement last_entity = nullptr;
  Statement insert_entity = nullptr;
  Statement update_entity = nullptr;
  Statement insert_event = nullptr;
  Statement find_row = nullptr;
  Statement find_status = nullptr;
  Statement insert_row = nullptr;
  Statement update_row = nullptr;
  Statement put_refund = nullptr;
  Statement find_mark = nullptr;
  Statement put_mark = nullptr;
  Statement put_snapshot = nullptr;

  Statement find_reservation = nullptr;
  Statement insert_reservation = nullptr;
  Statement update_reservation = nullptr;
  Statement erase_reservation = nullptr;
  Statement find_total = nullptr;
  Statement put_total = nullptr;
  Statement find_limit = nullptr;
  Statement has_customer_limits = nullptr;
  Statement put_limit = nullptr;
  Statement customer_use = nullptr;

  [[nodiscard]] static Result<WriterStatements> prepare(platform::SqliteConnection& connection);
};

/// Steps a look-up of at most one row: true if there is one, then read and reset the statement.
[[nodiscard]] Result<bool> has_row(platform::SqliteStatement& statement);

}  // namespace onceward::journal::sqlite
