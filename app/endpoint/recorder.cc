// SPDX-License-Identifier: Apache-2.0
#include "endpoint/recorder.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

constexpr std::chrono::seconds kEndsAfter{5};   // without a reader
constexpr size_t kMaxBytes = size_t{8} << 20;   // of rows that are kept
constexpr size_t kMaxAnswer = size_t{1} << 20;  // of rows in one answer
constexpr size_t kMaxSamples = 16384;

bool IsZero(const std::optional<uint64_t>& value) { return value.value_or(0) == 0; }

uint64_t Micros(int64_t ns) { return static_cast<uint64_t>(std::max<int64_t>(ns, 0)) / 1000; }

}  // namespace

Recorder::Recorder(Endpoint* endpoint) : endpoint_(endpoint) {
  for (size_t i = 0; i < endpoint->config().instances.size(); ++i) {
    instances_.push_back(std::make_unique<OfInstance>());
  }
}

absl::StatusOr<uint64_t> Recorder::Begin(uint32_t interval_us) {
  if (state_ == State::kOn && interval_us != interval_us_) {
    return absl::FailedPreconditionError(
        absl::StrCat("another reader records every ", interval_us_, " us; use that interval"));
  }
  read_at_ = Clock::now();
  if (state_ == State::kOn) {
    return number_ - (pending_ != 0 ? 1 : 0);
  }
  Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  const timespec every{.tv_sec = interval_us / 1'000'000,
                       .tv_nsec = int64_t{interval_us % 1'000'000} * 1000};
  const itimerspec times{.it_interval = every, .it_value = every};
  if (!timer.ok() || timerfd_settime(timer.get(), 0, &times, nullptr) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot record: no timer: ", std::strerror(errno), "; try again"));
  }
  timer_ = std::move(timer);
  interval_us_ = interval_us;
  for (const auto& of : instances_) of->has_before = false;
  state_ = State::kOn;
  return number_ - (pending_ != 0 ? 1 : 0);
}

RecordPage Recorder::Read(uint64_t since) {
  read_at_ = Clock::now();
  RecordPage page{.header = RecordHeader(), .csv = {}, .next = since};
  uint64_t samples = 0;
  for (const Sample& sample : samples_) {
    if (sample.number <= since) continue;
    if (page.csv.size() + sample.rows.size() > kMaxAnswer && !page.csv.empty()) break;
    page.csv += sample.rows;
    page.next = sample.number;
    ++samples;
  }
  page.lost = page.next - since - samples;
  return page;
}

void Recorder::Poll() {
  if (state_ == State::kOff) return;
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    if (instances_[i]->asked && instances_[i]->snapshot.done.load(std::memory_order_acquire)) {
      Take(i);
    }
    if (instances_[i]->wanted) Ask(i);  // a mailbox was full, or there is more
  }
  if (state_ == State::kOn) {
    if (Clock::now() - read_at_ > kEndsAfter) return End();
    Tick();
  } else if (pending_ == 0) {
    state_ = State::kOff;
  }
}

// Begins a sample if one is due. While the last one is being taken, the samples that are due are
// lost.
void Recorder::Tick() {
  uint64_t due = 0;
  if (read(timer_.get(), &due, sizeof due) != static_cast<ssize_t>(sizeof due)) return;
  if (pending_ != 0) {
    skipped_ += due;
    return;
  }
  number_ += due + skipped_;
  skipped_ = 0;
  sample_ = {.number = number_, .rows = {}};
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    instances_[i]->snapshot.first = 0;
    instances_[i]->snapshot.record = true;
    instances_[i]->wanted = true;
    Ask(i);
  }
  pending_ = static_cast<uint32_t>(instances_.size());
}

// Ends the recording: the lcores count no longer for it.
void Recorder::End() {
  timer_ = Fd();
  state_ = State::kEnding;
  samples_.clear();
  bytes_ = 0;
  pending_ = 0;
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    OfInstance& of = *instances_[i];
    of.shown = {};
    of.ends = true;
    ++pending_;
    if (of.asked) continue;  // asks when the answer is there
    of.snapshot.first = 0;
    of.snapshot.record = false;
    of.wanted = true;
    Ask(i);
  }
}

void Recorder::Ask(uint32_t instance) {
  OfInstance& of = *instances_[instance];
  of.snapshot.instance = endpoint_->number_of(instance);
  of.snapshot.done.store(false, std::memory_order_relaxed);
  Pipeline& pipeline = endpoint_->pipeline(endpoint_->pipeline_of(instance));
  of.asked = pipeline.mailbox().requests.Push(request::Record{.snapshot = &of.snapshot});
  of.wanted = !of.asked;
  if (!of.asked) of.snapshot.done.store(true, std::memory_order_relaxed);
}

void Recorder::Take(uint32_t instance) {
  OfInstance& of = *instances_[instance];
  of.asked = false;
  if (of.ends && of.snapshot.record) {  // the sample was on its way when the recording ended
    of.snapshot.record = false;
    of.snapshot.first = 0;
    of.wanted = true;
    return;
  }
  if (of.snapshot.more) {
    of.snapshot.first = of.snapshot.next;
    of.wanted = true;
    return;
  }
  --pending_;
  if (of.ends) {
    of.ends = false;
    return;
  }
  AddRows(instance);
  if (pending_ == 0) Finish();
}

void Recorder::Finish() {
  bytes_ += sample_.rows.size();
  samples_.push_back(std::move(sample_));
  while (bytes_ > kMaxBytes || samples_.size() > kMaxSamples) {
    bytes_ -= samples_.front().rows.size();
    samples_.pop_front();
  }
}

// ---- Rows.

void Recorder::AddRows(uint32_t instance) {
  OfInstance& of = *instances_[instance];
  const RecordSnapshot& now = of.snapshot;
  if (of.has_before) {
    using std::chrono::nanoseconds;
    const nanoseconds age = endpoint_->clock().Now() - now.at;
    const nanoseconds at = std::chrono::system_clock::now().time_since_epoch() - age;
    const InstanceConfig& own = endpoint_->config().instances[instance];
    begin_ = absl::StrCat(at.count(), ",", own.xpu, ",", own.instance, ",");
    const auto planes = static_cast<uint32_t>(endpoint_->config().instances[instance].ports.size());
    for (uint32_t plane = 0; plane < planes; ++plane) AddPlaneRows(instance, plane);
    AddOtherRows(instance);
  }
  of.has_before = true;
  of.before.paths = now.paths;
  for (uint32_t plane = 0; plane < kMaxPlanes; ++plane) {
    of.before.paused_ns[plane] = now.planes[plane].paused_ns;
  }
  of.before.waits_credit = now.waits_credit;
  of.before.waits_congestion = now.waits_congestion;
}

// Adds the row of a plane and VC. `values`: those that are not of PathLoad.
void Recorder::AddPathRow(uint32_t instance, const Place& place, Values values) {
  using enum RecordColumn;
  const bool is_per_vc = endpoint_->config().transport.psn_scope == PsnScope::kVc;
  const auto set = [&](RecordColumn column, uint64_t value) {
    values[static_cast<size_t>(column)] = value;
  };
  if (is_per_vc || place.vc == Place::kAll) {
    const uint32_t key = is_per_vc ? place.vc : 0;
    const PathLoad& now = instances_[instance]->snapshot.paths[place.plane][key];
    const PathLoad& before = instances_[instance]->before.paths[place.plane][key];
    set(kTxPdus, now.tx_pdus - before.tx_pdus);
    set(kTxBytes, now.tx_bytes - before.tx_bytes);
    set(kRetransmissions, now.retransmissions - before.retransmissions);
    set(kRxPdus, now.rx_pdus - before.rx_pdus);
    set(kRxBytes, now.rx_bytes - before.rx_bytes);
    set(kEcnMarked, now.marked - before.marked);
    set(kTrimmed, now.trimmed - before.trimmed);
    set(kInflightPdus, now.inflight_pdus);
    set(kInflightBytes, now.inflight_bytes);
  }
  AddRow(instance, place, values);
}

void Recorder::AddPlaneRows(uint32_t instance, uint32_t plane) {
  using enum RecordColumn;
  const PlaneLoad& now = instances_[instance]->snapshot.planes[plane];
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    Values values{};
    if (now.has_pauses) {
      const int64_t before = instances_[instance]->before.paused_ns[plane][vc];
      values[static_cast<size_t>(kPausedUs)] = Micros(now.paused_ns[vc]) - Micros(before);
    }
    AddPathRow(instance, {.plane = plane, .vc = vc}, values);
  }
  Values values{};
  values[static_cast<size_t>(kWindowOctets)] = now.window_octets;
  values[static_cast<size_t>(kGrantBps)] = now.grant_bps;
  values[static_cast<size_t>(kGrantedOctets)] = now.granted_octets;
  const bool is_per_vc = endpoint_->config().transport.psn_scope == PsnScope::kVc;
  if (is_per_vc) return AddRow(instance, {.plane = plane}, values);
  AddPathRow(instance, {.plane = plane}, values);
}

void Recorder::AddOtherRows(uint32_t instance) {
  using enum RecordColumn;
  const OfInstance& of = *instances_[instance];
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    const VcLoad& now = of.snapshot.vcs[vc];
    Values values{};
    values[static_cast<size_t>(kQueuedOctets)] = now.queued_octets;
    values[static_cast<size_t>(kCreditLines)] = now.credit_lines;
    values[static_cast<size_t>(kPromisedLines)] = now.promised_lines;
    values[static_cast<size_t>(kRxRingLines)] = now.ring_lines;
    values[static_cast<size_t>(kUnclaimedPdus)] = now.unclaimed_pdus;
    AddRow(instance, {.vc = vc}, values);
  }
  Values values{};
  values[static_cast<size_t>(kQueuedPdus)] = of.snapshot.queued_pdus;
  values[static_cast<size_t>(kTxRingLines)] = of.snapshot.tx_ring_lines;
  values[static_cast<size_t>(kWaitsCredit)] = of.snapshot.waits_credit - of.before.waits_credit;
  values[static_cast<size_t>(kWaitsCongestion)] =
      of.snapshot.waits_congestion - of.before.waits_congestion;
  AddRow(instance, {}, values);
}

void Recorder::AddRow(uint32_t instance, const Place& place, const Values& values) {
  OfInstance& of = *instances_[instance];
  bool& shown = of.shown[std::min(place.plane, kMaxPlanes)][std::min(place.vc, kVcCount)];
  const bool is_whole = place.plane == Place::kAll && place.vc == Place::kAll;
  shown = shown || is_whole || !std::all_of(values.begin(), values.end(), IsZero);
  if (!shown) return;
  std::string& rows = sample_.rows;
  rows += begin_;
  if (place.plane != Place::kAll) absl::StrAppend(&rows, place.plane);
  rows += ',';
  if (place.vc != Place::kAll) absl::StrAppend(&rows, place.vc);
  for (const std::optional<uint64_t>& value : values) {
    rows += ',';
    if (value) absl::StrAppend(&rows, *value);
  }
  rows += '\n';
}

}  // namespace suede
