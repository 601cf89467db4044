// Messages that wait for an event of a back end's own.
#ifndef CHAKRAD_SIM_NETWORK_MESSAGE_POOL_H_
#define CHAKRAD_SIM_NETWORK_MESSAGE_POOL_H_

#include <cstdint>
#include <vector>

namespace chakrad {

// Slots are reused, the last one given back first: allocates only when more messages wait than
// ever before.
template <typename Message>
class MessagePool {
 public:
  uint32_t Put(const Message& message) {
    if (free_.empty()) {
      messages_.push_back(message);
      return static_cast<uint32_t>(messages_.size() - 1);
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    messages_[slot] = message;
    return slot;
  }
  Message Take(uint32_t slot) {
    free_.push_back(slot);
    return messages_[slot];
  }
  Message& operator[](uint32_t slot) { return messages_[slot]; }

 private:
  std::vector<Message> messages_;
  std::vector<uint32_t> free_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_NETWORK_MESSAGE_POOL_H_
