// The customers' CSV file as rows of a plan: a push parser with bounded memory whose errors say
// line, column and what to do. Format: docs/runs.md. Called by the run service.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/journal/plan_store.hpp>

namespace onceward::ingress {

/// A line longer than this is refused before it is kept.
inline constexpr std::size_t csv_line_bytes_max = 1024 * 1024;

/// Takes a row; an error ends the parse and is given back with its line.
using CustomerSink = std::function<Result<Unit>(journal::PlanRow&&)>;

/// Feed the bytes in pieces of any size, then finish(). After an error it is fed nothing more. Not
/// thread-safe; does not block.
class CustomerCsv {
 public:
  /// `source` names the file in messages.
  CustomerCsv(std::string source, CustomerSink sink);

  /// invalid_argument with line and column, or the sink's error with the line in front.
  [[nodiscard]] Result<Unit> feed(std::string_view bytes);
  /// The last line may lack its newline; an empty file is refused, a header alone is not.
  [[nodiscard]] Result<Unit> finish();

 private:
  // Where the parse stands within RFC 4180's grammar.
  enum class Within : std::uint8_t { start, bare, quoted, quote_in_quoted, carriage_return };
  static constexpr std::size_t column_count = 7;

  [[nodiscard]] Result<Unit> take(char c);
  [[nodiscard]] Result<Unit> take_start(char c);
  [[nodiscard]] Result<Unit> take_quoted(char c);
  [[nodiscard]] Result<Unit> end_field(char c);
  [[nodiscard]] Result<Unit> end_record();
  [[nodiscard]] Result<Unit> take_header();
  [[nodiscard]] Result<Unit> take_row();
  [[nodiscard]] std::string_view field(std::size_t column) const;
  [[nodiscard]] Unexpected refuse(std::string_view column, std::string reason) const;
  [[nodiscard]] Unexpected refuse_line(std::string reason) const;
  /// Whether the byte continues a byte order mark at the beginning of the file.
  [[nodiscard]] bool is_mark(char c);

  const std::string source_;
  const CustomerSink sink_;
  Within within_ = Within::start;
  std::uint64_t line_ = 1;         // of the byte that is taken
  std::uint64_t record_line_ = 1;  // where the present record began
  std::size_t record_bytes_ = 0;
  std::size_t mark_bytes_ = 0;  // of a byte order mark, seen so far
  bool is_at_beginning_ = true;
  std::vector<std::string> fields_;
  std::string text_;  // of the present field
  std::optional<std::array<std::optional<std::size_t>, column_count>> header_;
  std::size_t header_fields_ = 0;
};

}  // namespace onceward::ingress
