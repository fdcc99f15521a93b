// Flattens the parse tree of the TOML library; its exceptions end here.
#include "app/config/toml_reader.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace onceward::app {

namespace {

std::string place(const std::string& name, const toml::source_position& at) {
  return name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

/// The shortest decimal text that means this number: 1.10 in the file comes back as "1.1".
std::string decimal_text(double number) {
  std::array<char, 64> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed);
  return error == std::errc{} ? std::string(buffer.data(), end) : "out of range";
}

std::optional<RawValue> scalar(const toml::node& node) {
  if (const auto* text = node.as_string()) return RawValue{text->get()};
  if (const auto* integer = node.as_integer()) return RawValue{integer->get()};
  if (const auto* boolean = node.as_boolean()) return RawValue{boolean->get()};
  if (const auto* decimal = node.as_floating_point()) {
    return RawValue{DecimalText{decimal_text(decimal->get())}};
  }
  return std::nullopt;
}

class Flattener {
 public:
  Flattener(const std::string& name, TomlText& out) : name_(name), out_(out) {}

  void table(const std::string& section, const toml::table& table) {
    for (const auto& [key, node] : table) member(section, key, node);
  }

 private:
  void member(const std::string& section, const toml::key& key, const toml::node& node) {
    const std::string key_text(key.str());
    const std::string path = section.empty() ? key_text : section + "." + key_text;
    const std::string where = place(name_, key.source().begin);
    if (const auto* inner = node.as_table()) return table(path, *inner);
    if (const auto* array = node.as_array()) {
      if (!array->empty() && array->is_homogeneous<toml::table>()) return tables(path, *array);
      return list(section, key_text, *array, where);
    }
    if (auto value = scalar(node)) {
      out_.settings.push_back({section, key_text, std::move(*value), where});
    } else {
      out_.problems.push_back(where + ": " + path + " is a date or time; no key takes one");
    }
  }

  void tables(const std::string& path, const toml::array& array) {
    std::size_t index = 0;
    for (const auto& node : array) {
      table(path + "[" + std::to_string(index++) + "]", *node.as_table());
    }
  }

  void list(const std::string& section, const std::string& key, const toml::array& array,
            const std::string& where) {
    std::vector<std::string> texts;
    for (const auto& node : array) {
      const auto* text = node.as_string();
      if (text == nullptr) {
        out_.problems.push_back(where + ": the list " + key + " may hold texts only");
        return;
      }
      texts.push_back(text->get());
    }
    out_.settings.push_back({section, key, RawValue{std::move(texts)}, where});
  }

  const std::string& name_;
  TomlText& out_;
};

/// "FILE:3:7" -> {3, 7}; tables iterate by name, people read by line.
std::pair<std::size_t, std::size_t> line_and_column(const std::string& where) {
  const auto column_at = where.rfind(':');
  const auto line_at = where.rfind(':', column_at - 1);
  std::pair<std::size_t, std::size_t> at{};
  std::from_chars(where.data() + line_at + 1, where.data() + column_at, at.first);
  std::from_chars(where.data() + column_at + 1, where.data() + where.size(), at.second);
  return at;
}

}  // namespace

TomlText read_toml(std::string_view text, const std::string& name) {
  TomlText out;
  try {
    Flattener(name, out).table("", toml::parse(text, name));
  } catch (const toml::parse_error& error) {
    out.problems.push_back(place(name, error.source().begin) +
                           ": not valid TOML: " + std::string(error.description()));
    return out;
  }
  std::stable_sort(out.settings.begin(), out.settings.end(), [](const auto& a, const auto& b) {
    return line_and_column(a.where) < line_and_column(b.where);
  });
  return out;
}

}  // namespace onceward::app
