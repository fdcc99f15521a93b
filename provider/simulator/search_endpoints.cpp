// /v1/payment_intents/search and /v1/charges/search: late, and by what they knew then.
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "provider/simulator/endpoint.hpp"
#include "provider/simulator/search_index.hpp"
#include "provider/simulator/search_query.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr ParamSpec search_params[] = {
    {"query", ParamKind::id, true},
    {"limit", ParamKind::integer},
    {"page", ParamKind::id},
    {"expand", ParamKind::list},
};
constexpr std::string_view page_prefix = "page_after_";
constexpr std::size_t search_page_default = 10;

constexpr std::string_view fields[] = {"amount",   "created", "currency",
                                       "customer", "status",  "metadata"};

std::optional<ApiError> check_search(const Params& params) {
  if (auto error = check_page(params)) return error;
  const auto query = parse_search_query(params.text("query"));
  if (!query) return invalid_param("", "query", query.error().context);
  for (const SearchClause& clause : query->clauses) {
    if (std::find(std::begin(fields), std::end(fields), clause.field) == std::end(fields)) {
      return invalid_param("", "query",
                           "query: no field " + clause.field +
                               "; use amount, created, currency, customer, status, metadata");
    }
  }
  return std::nullopt;
}

template <class T>
std::optional<std::string> value_of(const T& object, std::string_view status,
                                    const SearchClause& clause) {
  if (clause.field == "amount") return std::to_string(object.amount);
  if (clause.field == "created") return std::to_string(object.created_s);
  if (clause.field == "currency") return object.currency;
  if (clause.field == "customer") return object.customer;
  if (clause.field == "status") return std::string(status);
  return std::string(find(object.metadata, clause.key));
}

/// Newest first, behind the object that the page token names.
template <class T>
EndpointAnswer search(EndpointContext& context, const Params& params, Table<T>& table,
                      const char* url) {
  const SearchQuery query = *parse_search_query(params.text("query"));  // was checked
  const std::string page = params.text("page");
  bool at_page = page.empty();
  const auto limit =
      static_cast<std::size_t>(params.integer("limit").value_or(std::int64_t{search_page_default}));
  boost::json::array data;
  std::string last;
  bool has_more = false;
  const auto& all = table.all();
  for (auto at = all.rbegin(); at != all.rend() && !has_more; ++at) {
    if (!at_page) {
      at_page = page == std::string(page_prefix) + at->id;
      continue;
    }
    const auto known = context.search.status_of(at->id, to_text(at->status), context.now);
    if (known.empty()) continue;
    if (!matches(query, [&](const SearchClause& c) { return value_of(*at, known, c); })) continue;
    has_more = data.size() == limit;
    if (has_more) break;
    data.emplace_back(to_json(*at));
    last = at->id;
  }
  if (!at_page) return refuse(invalid_param("", "page", "No such page: " + page));
  EndpointAnswer answer;
  answer.body["object"] = "search_result";
  answer.body["data"] = std::move(data);
  answer.body["has_more"] = has_more;
  answer.body["next_page"] =
      has_more ? boost::json::value(std::string(page_prefix) + last) : boost::json::value();
  answer.body["url"] = url;
  return answer;
}

EndpointAnswer search_intents(EndpointContext& context, const Params& params, const std::string&) {
  return search(context, params, context.store.intents(), "/v1/payment_intents/search");
}
EndpointAnswer search_charges(EndpointContext& context, const Params& params, const std::string&) {
  return search(context, params, context.store.charges(), "/v1/charges/search");
}

constexpr std::array<Endpoint, 2> endpoints{{
    {"GET", "/v1/payment_intents/search", search_params, check_search, search_intents},
    {"GET", "/v1/charges/search", search_params, check_search, search_charges},
}};

}  // namespace

std::span<const Endpoint> search_endpoints() noexcept {
  return endpoints;
}

}  // namespace onceward::provider::simulator
