// Implementation of KeyStore.
#include "provider/simulator/key_store.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "provider/simulator/json_reader.hpp"

namespace onceward::provider::simulator {
namespace json = boost::json;

namespace {

std::string to_stored(const KeyRecord& record) {
  json::object object;
  object["key"] = record.key;
  object["method"] = record.method;
  object["path"] = record.path;
  object["digest"] = record.digest;
  object["first_received_ms"] = record.first_received.ms;
  object["expires_ms"] = record.expires_at.ms;
  object["status"] = record.status;
  object["body"] = record.body;
  object["request_id"] = record.request_id;
  return json::serialize(object);
}

}  // namespace

KeyRecord* KeyStore::find(const std::string& key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &records_[found->second - forgotten_];
}

bool KeyStore::make_room(Timestamp now) {
  while (records_.size() >= keys_max_) {
    const KeyRecord& oldest = records_.front();
    if (oldest.running || now < oldest.expires_at) return false;
    const auto place = by_key_.find(oldest.key);
    // A key that came again has a younger record; this one is only its past.
    if (place != by_key_.end() && place->second == forgotten_) {
      by_key_.erase(place);
      changes_.put("key", oldest.key, [] { return std::string(); });
    }
    records_.pop_front();
    ++forgotten_;
  }
  return true;
}

KeyAnswer KeyStore::begin(const KeyRecord& request, Timestamp now) {
  KeyRecord* known = find(request.key);
  if (known == nullptr || (!known->running && now >= known->expires_at)) {
    if (!make_room(now)) return KeyStoreIsFull{};
    KeyRecord fresh = request;
    fresh.first_received = now;
    fresh.expires_at = now.plus(life_);
    fresh.running = true;
    fresh.saved = false;
    by_key_[fresh.key] = forgotten_ + records_.size();
    records_.push_back(std::move(fresh));
    return KeyIsFresh{};
  }
  if (known->method != request.method || known->path != request.path) {
    return KeyDiffers{"Idempotency key " + request.key + " was first used for " + known->method +
                      " " + known->path + "; a key can only be used with the same endpoint."};
  }
  if (known->digest != request.digest) {
    return KeyDiffers{"Idempotency key " + request.key +
                      " was first used with other parameters; send the same ones or a new key."};
  }
  if (known->running) return KeyIsRunning{};
  ++known->replays;
  return KeyIsSaved{known};
}

void KeyStore::save(const std::string& key, int status, std::string body) {
  KeyRecord* record = find(key);
  ONCEWARD_CHECK(record != nullptr && !record->saved, "saving an answer under a key never begun");
  record->saved = true;
  record->status = status;
  record->body = std::move(body);
  changes_.put("key", key, [&] { return to_stored(*record); });
}

void KeyStore::finish(const std::string& key) {
  if (KeyRecord* record = find(key)) record->running = false;
}

void KeyStore::expire(std::string_view key) {
  for (KeyRecord& record : records_) {
    if (!key.empty() && record.key != key) continue;
    if (record.running) continue;
    record.expires_at = record.first_received;
    changes_.put("key", record.key, [&] { return to_stored(record); });
  }
}

void KeyStore::clear() {
  records_.clear();
  by_key_.clear();
  forgotten_ = 0;
}

Result<Unit> KeyStore::restore(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_object()) return fail(ErrorCode::store_corrupt, "key row is no object");
  JsonReader reader(value.get_object());
  KeyRecord record;
  record.key = reader.required_text("key");
  record.method = reader.required_text("method");
  record.path = reader.required_text("path");
  record.digest = reader.required_text("digest");
  record.first_received = {reader.required_integer("first_received_ms")};
  record.expires_at = {reader.required_integer("expires_ms")};
  record.status = static_cast<int>(reader.required_integer("status"));
  record.body = reader.text("body");
  record.request_id = reader.required_text("request_id");
  record.running = false;
  record.saved = true;
  if (!reader.bad_member().empty()) {
    return fail(ErrorCode::store_corrupt, "key row has a bad member: " + reader.bad_member());
  }
  by_key_[record.key] = forgotten_ + records_.size();
  records_.push_back(std::move(record));
  return ok();
}

}  // namespace onceward::provider::simulator
