// The engine in memory, for tests: nothing survives the object.
#ifndef CHAKRAD_STORAGE_MEM_KV_H_
#define CHAKRAD_STORAGE_MEM_KV_H_

#include <memory>

#include "storage/kv.h"

namespace chakrad {

std::unique_ptr<Kv> NewMemKv();

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_MEM_KV_H_
