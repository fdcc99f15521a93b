// Parser and evaluation of search queries.
#include "provider/simulator/search_query.hpp"

#include <algorithm>
#include <charconv>

namespace onceward::provider::simulator {
namespace {

Unexpected bad(std::string why) {
  return fail(ErrorCode::invalid_argument, "query: " + std::move(why));
}

std::optional<std::int64_t> to_number(std::string_view text) noexcept {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

/// Takes the query apart from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    return text_.empty();
  }
  [[nodiscard]] bool take(std::string_view token) {
    if (at_end() || text_.substr(0, token.size()) != token) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  [[nodiscard]] std::string word() {
    if (at_end()) return {};
    std::size_t length = 0;
    while (length < text_.size() && is_word(text_[length])) ++length;
    std::string taken(text_.substr(0, length));
    text_.remove_prefix(length);
    return taken;
  }
  /// 'text' or "text", with backslashes.
  [[nodiscard]] std::optional<std::string> quoted() {
    if (at_end() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const char quote = text_.front();
    std::string value;
    for (std::size_t at = 1; at < text_.size(); ++at) {
      if (text_[at] == quote) {
        text_.remove_prefix(at + 1);
        return value;
      }
      if (text_[at] == '\\' && at + 1 < text_.size()) ++at;
      value.push_back(text_[at]);
    }
    return std::nullopt;
  }

 private:
  std::string_view text_;
};

std::optional<SearchOperator> take_operator(Scanner& scanner) {
  if (scanner.take(">=")) return SearchOperator::at_least;
  if (scanner.take("<=")) return SearchOperator::at_most;
  if (scanner.take(">")) return SearchOperator::above;
  if (scanner.take("<")) return SearchOperator::below;
  if (scanner.take(":")) return SearchOperator::equal;
  if (scanner.take("~")) return SearchOperator::part;
  return std::nullopt;
}

Result<SearchClause> take_clause(Scanner& scanner) {
  SearchClause clause;
  clause.negated = scanner.take("-");
  clause.field = scanner.word();
  if (clause.field.empty()) return bad("a field name is missing");
  if (clause.field == "metadata") {
    const bool open = scanner.take("[");
    const auto key = open ? scanner.quoted() : std::nullopt;
    if (!key || !scanner.take("]")) return bad("write metadata['key']:'value'");
    clause.key = *key;
  }
  const auto op = take_operator(scanner);
  if (!op) return bad("an operator (: ~ > < >= <=) is missing after " + clause.field);
  clause.op = *op;
  if (auto text = scanner.quoted()) {
    clause.value = *std::move(text);
  } else {
    clause.value = scanner.word();
    const bool null = clause.value == "null";
    if (!null && !to_number(clause.value)) {
      return bad("the value of " + clause.field + " is a quoted text, a number or null");
    }
    if (null) clause.value.clear();
  }
  const bool ordered = clause.op != SearchOperator::equal && clause.op != SearchOperator::part;
  if (ordered && !to_number(clause.value)) {
    return bad("the value of " + clause.field + " is compared as a number");
  }
  return clause;
}

bool holds(const SearchClause& clause, const std::optional<std::string>& value) {
  if (clause.op == SearchOperator::equal) return value.value_or("") == clause.value;
  if (!value) return false;
  if (clause.op == SearchOperator::part) return value->find(clause.value) != std::string::npos;
  const auto left = to_number(*value);
  const auto right = to_number(clause.value);
  if (!left || !right) return false;
  switch (clause.op) {
    case SearchOperator::above:
      return *left > *right;
    case SearchOperator::at_least:
      return *left >= *right;
    case SearchOperator::below:
      return *left < *right;
    case SearchOperator::at_most:
      return *left <= *right;
    case SearchOperator::equal:
    case SearchOperator::part:
      return false;
  }
  return false;
}

}  // namespace

Result<SearchQuery> parse_search_query(std::string_view text) {
  Scanner scanner(text);
  SearchQuery query;
  bool joined = false;
  while (!scanner.at_end()) {
    if (!query.clauses.empty()) {
      const bool any = scanner.take("OR ");
      if (!any && !scanner.take("AND ")) return bad("clauses are joined by AND or OR");
      if (joined && any != query.any) return bad("clauses are joined by all AND or all OR");
      query.any = any;
      joined = true;
    }
    auto clause = take_clause(scanner);
    if (!clause) return Unexpected{std::move(clause).error()};
    query.clauses.push_back(*std::move(clause));
    if (query.clauses.size() > search_clauses_max) return bad("more than 10 clauses");
  }
  if (query.clauses.empty()) return bad("is empty");
  return query;
}

bool matches(const SearchQuery& query,
             const std::function<std::optional<std::string>(const SearchClause&)>& value_of) {
  const auto fits = [&](const SearchClause& clause) {
    return holds(clause, value_of(clause)) != clause.negated;
  };
  return query.any ? std::any_of(query.clauses.begin(), query.clauses.end(), fits)
                   : std::all_of(query.clauses.begin(), query.clauses.end(), fits);
}

}  // namespace onceward::provider::simulator
