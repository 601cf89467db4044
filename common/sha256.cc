#include "common/sha256.h"

#include <openssl/evp.h>

#include "common/check.h"

namespace chakrad {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  CHECK(EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1) << "no SHA-256 in OpenSSL";
}

Sha256::~Sha256() = default;

void Sha256::Update(absl::string_view bytes) {
  CHECK(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::Digest() {
  std::string digest(32, '\0');
  unsigned int length = 0;
  CHECK(EVP_DigestFinal_ex(context_->evp, reinterpret_cast<unsigned char*>(digest.data()),
                           &length) == 1);
  CHECK(length == 32) << length;
  return digest;
}

std::string Sha256Of(absl::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Digest();
}

}  // namespace chakrad
