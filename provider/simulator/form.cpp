// Decoder of bracketed forms.
#include "provider/simulator/form.hpp"

#include <onceward/core/digest.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace onceward::provider::simulator {
namespace {

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Unexpected bad(std::string why) {
  return fail(ErrorCode::invalid_argument, std::move(why));
}

Result<std::string> decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out.push_back(text[at] == '+' ? ' ' : text[at]);
      continue;
    }
    const int high = at + 2 < text.size() ? hex_value(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? hex_value(text[at + 2]) : -1;
    if (high < 0 || low < 0) return bad("invalid %-encoding in the parameters");
    out.push_back(static_cast<char>(high * 16 + low));
    at += 2;
  }
  if (!is_utf8(out)) return bad("the parameters are not valid UTF-8");
  return out;
}

/// `a[b][c]` -> name a, keys b, c. Works on decoded text: encoded brackets count as brackets.
Result<FormParam> split_name(const std::string& text) {
  FormParam param;
  const std::size_t bracket = text.find('[');
  param.name = text.substr(0, bracket);
  if (param.name.empty() || param.name.find(']') != std::string::npos) {
    return bad("invalid parameter name: " + text);
  }
  std::size_t at = bracket == std::string::npos ? text.size() : bracket;
  while (at < text.size()) {
    const std::size_t close = text.find(']', at);
    if (text[at] != '[' || close == std::string::npos) {
      return bad("invalid brackets in parameter name: " + text);
    }
    std::string key = text.substr(at + 1, close - at - 1);
    if (key.find('[') != std::string::npos) {
      return bad("invalid brackets in parameter name: " + text);
    }
    param.keys.push_back(std::move(key));
    if (param.keys.size() > form_depth_max) return bad("parameter is nested too deeply: " + text);
    at = close + 1;
  }
  return param;
}

/// Gives `a[]` its place in the list and refuses what was already sent.
class Places {
 public:
  [[nodiscard]] std::optional<std::string> place(FormParam& param) {
    if (!param.keys.empty() && param.keys.back().empty()) {
      param.keys.back() = std::to_string(next_in_list_[to_text(param)]++);
    }
    std::string text = to_text(param);
    if (!seen_.insert(text).second) return text;
    return std::nullopt;
  }

 private:
  std::map<std::string, std::size_t> next_in_list_;
  std::set<std::string> seen_;
};

}  // namespace

Result<FormParams> parse_form(std::string_view text) {
  FormParams params;
  Places places;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    auto name = decode(part.substr(0, equals));
    if (!name) return Unexpected{std::move(name).error()};
    auto value = equals == std::string_view::npos ? Result<std::string>(std::string())
                                                  : decode(part.substr(equals + 1));
    if (!value) return Unexpected{std::move(value).error()};
    auto param = split_name(*name);
    if (!param) return Unexpected{std::move(param).error()};
    param->value = *std::move(value);
    if (const auto twice = places.place(*param)) return bad("parameter sent twice: " + *twice);
    params.push_back(*std::move(param));
    if (params.size() > form_params_max) return bad("too many parameters");
  }
  return params;
}

std::string to_text(const FormParam& param) {
  std::string text = param.name;
  for (const std::string& key : param.keys) text.append("[").append(key).append("]");
  return text;
}

std::string canonical_text(const FormParams& params) {
  std::vector<std::pair<std::string, std::string_view>> sorted;
  sorted.reserve(params.size());
  for (const FormParam& param : params) sorted.emplace_back(to_text(param), param.value);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string_view> fields;
  for (const auto& [name, value] : sorted) {
    fields.push_back(name);
    fields.push_back(value);
  }
  return netstrings(fields);
}

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return false;
    std::uint32_t point = lead & (0x7fU >> length);
    for (std::size_t nr = 1; nr < length; ++nr) {
      const auto next = static_cast<unsigned char>(text[at + nr]);
      if ((next & 0xc0U) != 0x80U) return false;
      point = (point << 6U) | (next & 0x3fU);
    }
    const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    if (overlong || surrogate || point > 0x10ffff) return false;
    at += length;
  }
  return true;
}

}  // namespace onceward::provider::simulator
