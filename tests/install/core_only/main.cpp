// The smallest user of the installed core: one digest of a known value.
#include <iostream>

#include <onceward/core/digest.hpp>

int main() {
  const auto digest = onceward::to_hex(onceward::sha256("abc"));
  std::cout << digest << '\n';
  return digest.starts_with("ba7816bf8f01cfea") ? 0 : 1;
}
