// Our verifier as a program, for tests in other languages. Standard input: a line with the secret,
// a line with the signature header, then the body. Argument: the time in seconds. 0 if it verifies.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

#include <onceward/ingress/webhook_signature.hpp>

int main(int argc, char** argv) {
  using namespace onceward;
  if (argc != 2) return 2;
  std::string secret;
  std::string header;
  std::getline(std::cin, secret);
  std::getline(std::cin, header);
  const std::string body{std::istreambuf_iterator<char>(std::cin), {}};
  const auto secrets = ingress::WebhookSecrets::parse(secret);
  if (!secrets) return 2;
  const Timestamp now{std::atoll(argv[1]) * 1000};
  const auto verified = ingress::verify_signature({header, body}, *secrets, now);
  if (!verified) std::fprintf(stderr, "%s\n", verified.error().context.c_str());
  return verified ? 0 : 1;
}
