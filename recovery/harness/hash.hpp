// Hash: the 64-bit hash of states and digests of the harness. Not cryptographic; never stored.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace onceward::harness {

class Hash {
 public:
  explicit Hash(std::uint64_t seed = 0x9e3779b97f4a7c15ULL) noexcept : h_(seed) {}

  Hash& add(std::uint64_t value) noexcept {
    h_ ^= value;
    h_ *= 0xff51afd7ed558ccdULL;
    h_ ^= h_ >> 32U;
    return *this;
  }
  Hash& add(std::string_view bytes) noexcept {
    add(bytes.size());
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      add(word);
    }
    std::uint64_t rest = 0;
    if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
    return add(rest);
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return h_; }

 private:
  std::uint64_t h_;
};

}  // namespace onceward::harness
