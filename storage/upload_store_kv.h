// The UploadStore over any engine, with the bytes in files: <staging folder>/
// <upload id>/<number>. The name that a client gave a file is in its record only.
#ifndef CHAKRAD_STORAGE_UPLOAD_STORE_KV_H_
#define CHAKRAD_STORAGE_UPLOAD_STORE_KV_H_

#include <cstdint>
#include <memory>
#include <string>

#include "storage/kv.h"
#include "storage/upload_store.h"

namespace chakrad {

// `staging_dir` is created when bytes first arrive. Appends that would leave less
// than `reserve_bytes` free on its disk are RESOURCE_EXHAUSTED.
std::unique_ptr<UploadStore> NewUploadStore(std::shared_ptr<Kv> kv, std::string staging_dir,
                                            int64_t reserve_bytes);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_UPLOAD_STORE_KV_H_
