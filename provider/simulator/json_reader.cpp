// Implementation of JsonReader.
#include "provider/simulator/json_reader.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace onceward::provider::simulator {

const boost::json::value* JsonReader::find(std::string_view name) const {
  const auto* value = object_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void JsonReader::blame(std::string_view name) {
  if (bad_.empty()) bad_ = name;
}

std::string JsonReader::text(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return {};
  if (const auto* text = value->if_string()) return {text->data(), text->size()};
  blame(name);
  return {};
}

std::string JsonReader::required_text(std::string_view name) {
  std::string value = text(name);
  if (value.empty()) blame(name);
  return value;
}

std::int64_t JsonReader::integer(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return 0;
  if (const auto* number = value->if_int64()) return *number;
  blame(name);
  return 0;
}

std::int64_t JsonReader::required_integer(std::string_view name) {
  if (find(name) == nullptr) blame(name);
  return integer(name);
}

bool JsonReader::flag(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return false;
  if (const auto* flag = value->if_bool()) return *flag;
  blame(name);
  return false;
}

const boost::json::object* JsonReader::object(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) blame(name);
  return value->if_object();
}

const boost::json::array* JsonReader::array(std::string_view name) {
  const auto* value = find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) blame(name);
  return value->if_array();
}

std::vector<std::pair<std::string, std::string>> JsonReader::text_members(std::string_view name) {
  std::vector<std::pair<std::string, std::string>> members;
  const auto* nested = object(name);
  if (nested == nullptr) return members;
  for (const auto& entry : *nested) {
    const auto* text = entry.value().if_string();
    if (text == nullptr) {
      blame(name);
      return {};
    }
    members.emplace_back(entry.key(), std::string(text->data(), text->size()));
  }
  return members;
}

}  // namespace onceward::provider::simulator
