// One page of a list endpoint: newest first, cursors, `created` bounds.
#pragma once

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <iterator>
#include <optional>
#include <string>

#include "provider/simulator/endpoint.hpp"

namespace onceward::provider::simulator {

inline constexpr std::int64_t page_size_default = 10;

/// Pages over `oldest_first`, a sequence of pointers or objects. `fits` filters, `show` renders.
/// A cursor that is not in the sequence is answered 400. `page_max`: shows fewer than asked for.
template <class Sequence, class Fits, class Show>
[[nodiscard]] EndpointAnswer list_page(const Sequence& oldest_first, const Params& params,
                                       const std::string& url, Fits&& fits, Show&& show,
                                       std::optional<std::uint64_t> page_max) {
  const auto& ref = [](const auto& item) -> const auto& {
    if constexpr (std::is_pointer_v<std::decay_t<decltype(item)>>) {
      return *item;
    } else {
      return item;
    }
  };
  const std::string after = params.text("starting_after");
  const std::string before = params.text("ending_before");
  const bool backwards = !before.empty();  // towards newer objects, from the cursor on
  const CreatedRange created = params.range("created");
  const auto asked = static_cast<std::size_t>(params.integer("limit").value_or(page_size_default));
  const std::size_t limit = std::min<std::size_t>(asked, page_max.value_or(asked));
  bool at_cursor = after.empty() && before.empty();
  bool has_more = false;
  boost::json::array data;

  const auto visit = [&](const auto& object) {
    if (!at_cursor) {
      at_cursor = object.id == (backwards ? before : after);
      return true;
    }
    const bool in_range = (!created.from_s || object.created_s >= *created.from_s) &&
                          (!created.to_s || object.created_s <= *created.to_s);
    if (!in_range || !fits(object)) return true;
    if (data.size() == limit) {
      has_more = true;
      return false;
    }
    data.emplace_back(show(object));
    return true;
  };
  if (backwards) {
    for (auto at = oldest_first.begin(); at != oldest_first.end() && visit(ref(*at)); ++at) {
    }
    std::reverse(data.begin(), data.end());
  } else {
    for (auto at = oldest_first.rbegin(); at != oldest_first.rend() && visit(ref(*at)); ++at) {
    }
  }
  if (!at_cursor) {
    return refuse(no_such(400, "object", backwards ? before : after,
                          backwards ? "ending_before" : "starting_after"));
  }
  EndpointAnswer answer;
  answer.body["object"] = "list";
  answer.body["data"] = std::move(data);
  answer.body["has_more"] = has_more;
  answer.body["url"] = url;
  return answer;
}

}  // namespace onceward::provider::simulator
