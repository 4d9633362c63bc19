// SPDX-License-Identifier: Apache-2.0
// Recordings of the endpoint's load (docs/record.md): asks the lcores for a snapshot in each
// interval, and keeps the differences as lines of CSV in a bounded ring for readers.
#ifndef SUEDE_APP_ENDPOINT_RECORDER_H_
#define SUEDE_APP_ENDPOINT_RECORDER_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "endpoint/endpoint.h"
#include "lcore/record_snapshot.h"
#include "local/fd.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/record_columns.h"

namespace suede {

// Control thread only. Must outlive the lcores' work.
class Recorder {
 public:
  // `endpoint` outlives this object.
  explicit Recorder(Endpoint* endpoint);

  // Begins a recording unless it runs already, and notes that there is a reader. Returns the number
  // of the newest sample.
  absl::StatusOr<uint64_t> Begin(uint32_t interval_us);
  // Returns samples behind the number `since`, as many as an answer holds, and notes that there is
  // a reader.
  RecordPage Read(uint64_t since);

  // Readable when a sample is due; -1: nothing is recorded.
  int fd() const { return timer_.get(); }
  // Whether Poll is to be called every millisecond, as lcores owe an answer.
  bool busy() const { return state_ != State::kOff && pending_ != 0; }
  // Called in each iteration of the control thread.
  void Poll();

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t {
    kOff,
    kOn,
    kEnding,  // the lcores are asked to record no longer
  };
  // Values of a row; nullopt: the row has no such value.
  using Values = std::array<std::optional<uint64_t>, kRecordColumnCount>;
  struct Counts {
    std::array<std::array<PathLoad, kVcCount>, kMaxPlanes> paths{};
    std::array<std::array<int64_t, kVcCount>, kMaxPlanes> paused_ns{};
    uint64_t waits_credit = 0;
    uint64_t waits_congestion = 0;
  };
  struct OfInstance {
    RecordSnapshot snapshot;
    bool wanted = false;  // a piece is to be asked for
    bool asked = false;   // and was
    bool ends = false;    // the lcore is to record no longer
    bool has_before = false;
    Counts before;  // of the last sample
    // Rows that have had a value other than 0: they are in each sample from then on.
    std::array<std::array<bool, kVcCount + 1>, kMaxPlanes + 1> shown{};
  };
  struct Sample {
    uint64_t number = 0;
    std::string rows;
  };
  // A plane and a VC, or kAll of them.
  struct Place {
    static constexpr uint32_t kAll = ~0u;
    uint32_t plane = kAll;
    uint32_t vc = kAll;
  };

  void Tick();
  void Ask(uint32_t instance);
  void Take(uint32_t instance);
  void AddRows(uint32_t instance);
  void AddPathRow(uint32_t instance, const Place& place, Values values);
  void AddPlaneRows(uint32_t instance, uint32_t plane);
  void AddOtherRows(uint32_t instance);
  void AddRow(uint32_t instance, const Place& place, const Values& values);
  void Finish();
  void End();

  Endpoint* const endpoint_;
  std::vector<std::unique_ptr<OfInstance>> instances_;
  Fd timer_;
  State state_ = State::kOff;
  uint32_t interval_us_ = 0;
  Clock::time_point read_at_;
  uint32_t pending_ = 0;  // instances whose answer is not complete
  uint64_t number_ = 0;   // of the newest sample; lost samples have one, too
  uint64_t skipped_ = 0;  // samples that were due while that one was taken
  Sample sample_;         // being taken
  std::string begin_;     // of the rows of an instance: their time and its numbers
  std::deque<Sample> samples_;
  size_t bytes_ = 0;  // of samples_
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_RECORDER_H_
