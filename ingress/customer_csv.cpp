// The grammar of the customers' file. What the fields mean is in customer_row.cpp.
#include "ingress/customer_csv.hpp"

#include <algorithm>
#include <utility>

#include "ingress/customer_row.hpp"

namespace onceward::ingress {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

CustomerCsv::CustomerCsv(std::string source, CustomerSink sink)
    : source_(std::move(source)), sink_(std::move(sink)) {
  static_assert(column_count == customer_columns.size());
}

Result<Unit> CustomerCsv::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (is_at_beginning_) {
      if (is_mark(c)) continue;
      // What only began like a byte order mark belongs to the text.
      for (std::size_t i = 0; i < mark_bytes_; ++i) {
        auto taken = take(byte_order_mark[i]);
        if (!taken) return taken;
      }
    }
    auto taken = take(c);
    if (!taken) return taken;
    if (c == '\n') ++line_;
  }
  return ok();
}

bool CustomerCsv::is_mark(char c) {
  const bool is_next = c == byte_order_mark[mark_bytes_];
  if (is_next) ++mark_bytes_;
  is_at_beginning_ = is_next && mark_bytes_ < byte_order_mark.size();
  return is_next;
}

Result<Unit> CustomerCsv::finish() {
  if (within_ == Within::quoted) {
    return refuse_line("a quoted field has no closing quote; write a quote within one as \"\"");
  }
  const bool is_open = within_ != Within::start || !fields_.empty();
  if (is_open) {
    auto ended = end_field('\n');
    if (!ended) return ended;
  }
  if (!header_) {
    return fail(ErrorCode::invalid_argument,
                source_ + " is empty; it begins with the line " + std::string(customer_header));
  }
  return ok();
}

Result<Unit> CustomerCsv::take(char c) {
  if (++record_bytes_ > csv_line_bytes_max) {
    return refuse_line("the line is longer than " + std::to_string(csv_line_bytes_max) +
                       " bytes; is a quote or a newline missing, or is this no CSV file?");
  }
  switch (within_) {
    case Within::start:
      return take_start(c);
    case Within::bare:
      if (c == ',' || c == '\n') return end_field(c);
      if (c == '\r') {
        within_ = Within::carriage_return;
        return ok();
      }
      if (c == '"') {
        return refuse_line("a quote stands inside a field; put the whole field in quotes");
      }
      text_.push_back(c);
      return ok();
    case Within::quoted:
    case Within::quote_in_quoted:
      return take_quoted(c);
    case Within::carriage_return:
      if (c == '\n') return end_field(c);
      return refuse_line(
          "a carriage return is not followed by a newline; end lines with LF or CRLF");
  }
  check_failed("within", __FILE__, __LINE__, "the parser is within one of its places");
}

Result<Unit> CustomerCsv::take_start(char c) {
  if (c == '"') {
    within_ = Within::quoted;
    return ok();
  }
  within_ = Within::bare;
  // A line without any field: blank lines hold nobody.
  const bool is_blank = fields_.empty() && (c == '\n' || c == '\r');
  if (is_blank && c == '\n') {
    within_ = Within::start;
    record_bytes_ = 0;
    record_line_ = line_ + 1;
    return ok();
  }
  --record_bytes_;  // counted by take()
  return take(c);
}

Result<Unit> CustomerCsv::take_quoted(char c) {
  if (within_ == Within::quoted) {
    if (c == '"') {
      within_ = Within::quote_in_quoted;
    } else {
      text_.push_back(c);
    }
    return ok();
  }
  if (c == '"') {
    text_.push_back('"');
    within_ = Within::quoted;
    return ok();
  }
  if (c == ',' || c == '\n') return end_field(c);
  if (c == '\r') {
    within_ = Within::carriage_return;
    return ok();
  }
  return refuse_line("text follows a closing quote; write a quote within a field as \"\"");
}

Result<Unit> CustomerCsv::end_field(char c) {
  fields_.push_back(std::exchange(text_, {}));
  within_ = Within::start;
  return c == '\n' ? end_record() : Result<Unit>(ok());
}

Result<Unit> CustomerCsv::end_record() {
  const bool is_blank = fields_.size() == 1 && fields_[0].empty();
  if (!is_blank) {
    auto taken = header_ ? take_row() : take_header();
    if (!taken) return taken;
  }
  fields_.clear();
  record_bytes_ = 0;
  record_line_ = line_ + 1;
  return ok();
}

Result<Unit> CustomerCsv::take_header() {
  auto& places = header_.emplace();
  header_fields_ = fields_.size();
  if (fields_[0].starts_with('\xFF') || fields_[0].starts_with('\xFE')) {
    return refuse_line("this is not UTF-8; save the file as CSV in UTF-8");
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto known = std::find(customer_columns.begin(), customer_columns.end(), fields_[i]);
    if (known == customer_columns.end()) {
      return refuse_line("unknown column " + shown(fields_[i]) + "; the columns are " +
                         std::string(customer_header));
    }
    auto& place = places[static_cast<std::size_t>(known - customer_columns.begin())];
    if (place) return refuse_line("column " + fields_[i] + " comes twice; keep one");
    place = i;
  }
  for (std::size_t column = 0; column < customer_columns_required; ++column) {
    if (places[column]) continue;
    return refuse_line(
        "column " + std::string(customer_columns[column]) +
        " is missing; the first line names the columns: " + std::string(customer_header));
  }
  return ok();
}

std::string_view CustomerCsv::field(std::size_t column) const {
  const auto place = (*header_)[column];
  return place ? std::string_view(fields_[*place]) : std::string_view{};
}

Result<Unit> CustomerCsv::take_row() {
  if (fields_.size() != header_fields_) {
    return refuse_line("has " + std::to_string(fields_.size()) + " fields, the header " +
                       std::to_string(header_fields_) +
                       "; quote a field that holds a comma, leave an absent one empty");
  }
  CustomerFields fields;
  for (std::size_t column = 0; column < column_count; ++column) fields[column] = field(column);
  auto row = parse_customer_row(fields);
  if (auto* wrong = std::get_if<WrongField>(&row)) {
    return refuse(customer_columns[wrong->column], std::move(wrong->reason));
  }
  auto taken = sink_(std::move(std::get<journal::PlanRow>(row)));
  if (taken) return taken;
  return fail(taken.error().code,
              source_ + " line " + std::to_string(record_line_) + ": " + taken.error().context);
}

Unexpected CustomerCsv::refuse(std::string_view column, std::string reason) const {
  return fail(ErrorCode::invalid_argument, source_ + " line " + std::to_string(record_line_) +
                                               ", column " + std::string(column) + ": " + reason);
}

Unexpected CustomerCsv::refuse_line(std::string reason) const {
  return fail(ErrorCode::invalid_argument,
              source_ + " line " + std::to_string(record_line_) + ": " + reason);
}

}  // namespace onceward::ingress
