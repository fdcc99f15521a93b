// The provider's search language: clauses `field:'value'`, `field~'part'`, `field>1`, a leading `-`
// to negate, joined by all AND or all OR; metadata as metadata['key'].
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/result.hpp>

namespace onceward::provider::simulator {

enum class SearchOperator : std::uint8_t { equal, part, above, at_least, below, at_most };

struct SearchClause {
  bool negated = false;
  std::string field;  ///< "metadata" for metadata
  std::string key;    ///< of metadata
  SearchOperator op = SearchOperator::equal;
  std::string value;
};

struct SearchQuery {
  std::vector<SearchClause> clauses;
  bool any = false;  ///< OR
};

inline constexpr std::size_t search_clauses_max = 10;

/// invalid_argument says what is wrong with the text, for the caller to read.
[[nodiscard]] Result<SearchQuery> parse_search_query(std::string_view text);

/// `value_of` gives an object's value of a field (and key): absent when it has none. Numbers
/// compare as numbers.
[[nodiscard]] bool matches(
    const SearchQuery& query,
    const std::function<std::optional<std::string>(const SearchClause&)>& value_of);

}  // namespace onceward::provider::simulator
