// The bytes that the hash chain covers; the format is in the header and is never changed.
#include <onceward/core/chain.hpp>

#include <array>
#include <charconv>
#include <span>

namespace onceward {
namespace {

/// Writes the short pieces between the borrowed texts into a buffer on the stack.
class Framing {
 public:
  /// Everything put since the last call, as one piece.
  [[nodiscard]] std::string_view take() {
    ONCEWARD_CHECK(taken_ < used_, "there is framing between two texts");
    const std::string_view piece(buffer_.data() + taken_, used_ - taken_);
    taken_ = used_;
    return piece;
  }

  Framing& text_follows(std::string_view text) {
    put_number(text.size());
    put(':');
    return *this;
  }
  Framing& text_ends() {
    put(',');
    return *this;
  }
  template <class Integer>
  Framing& number(Integer value) {
    std::array<char, number_bytes_max> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text_follows({digits.data(), static_cast<std::size_t>(end - digits.data())});
    put_number(value);
    return text_ends();
  }

 private:
  static constexpr std::size_t number_bytes_max = 20;  // 64 bits in decimal, with sign
  // 4 lengths with colon and comma, 3 numbers with a two-digit length, colon and comma.
  static constexpr std::size_t buffer_bytes =
      4 * (number_bytes_max + 2) + 3 * (number_bytes_max + 4);

  void put(char c) {
    ONCEWARD_CHECK(used_ < buffer_.size(), "the framing fits its buffer");
    buffer_[used_++] = c;
  }
  template <class Integer>
  void put_number(Integer value) {
    char* const begin = buffer_.data() + used_;
    const auto result = std::to_chars(begin, buffer_.data() + buffer_.size(), value);
    ONCEWARD_CHECK(result.ec == std::errc(), "the framing fits its buffer");
    used_ += static_cast<std::size_t>(result.ptr - begin);
  }

  std::array<char, buffer_bytes> buffer_;
  std::size_t used_ = 0;
  std::size_t taken_ = 0;
};

std::string_view raw_bytes(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

}  // namespace

Digest chain_next(const Digest& head, const ChainInput& event) noexcept {
  Framing framing;
  // An initialiser list runs in order, so the pieces come out of the framing in this order.
  const std::array<std::string_view, 10> pieces = {
      raw_bytes(head),
      framing.text_follows(event.persistence_id).take(),
      event.persistence_id,
      framing.text_ends().number(event.sequence_nr.value).text_follows(event.manifest).take(),
      event.manifest,
      framing.text_ends().text_follows(event.payload).take(),
      event.payload,
      framing.text_ends().number(event.epoch.value).text_follows(event.writer).take(),
      event.writer,
      framing.text_ends().number(event.at_ms).take(),
  };
  return sha256(pieces);
}

}  // namespace onceward
