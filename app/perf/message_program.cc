// SPDX-License-Identifier: Apache-2.0
// Message sockets of suede-perf: a client that sends a stream of messages, and a server.
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory>

#include "base/big_endian.h"
#include "perf/message_load.h"
#include "perf/programs.h"
#include "perf/worker_loop.h"
#include "suede/socket.h"

namespace suede::perf {
namespace {

using Access = std::unique_ptr<suede_sockets, decltype(&suede_sockets_close)>;

// Opens the sockets of the own instance. Returns null, and stores the error in *status, on failure.
Access OpenAccess(const Options& options, absl::Status* status) {
  auto params = ParamsOf<suede_sockets_params>(options);
  params.data_vcs = 1u << options.vcs[0];
  params.control_vcs = 1u << (options.vcs[0] == 3 ? 2 : 3);
  suede_sockets* opened = nullptr;
  const int error = suede_sockets_open(options.endpoint.c_str(), &params, &opened);
  if (error != 0) *status = StatusOfMemoryCall(error, options);
  return Access(opened, &suede_sockets_close);
}

class MessageServer {
 public:
  MessageServer(suede_sockets* sockets, const Options& options)
      : sockets_(sockets), options_(options), pattern_(kPieceBytes) {
    for (const uint16_t id : {kDropSocket, kCheckSocket, kEchoSocket}) Listen(id);
  }
  ~MessageServer() {
    for (Stream& stream : streams_) Close(stream);
  }

  // Serves every stream once. Returns whether there was work.
  bool Poll() {
    bool worked = false;
    is_lost_ |= suede_sockets_poll(sockets_) == -ECONNRESET;
    for (auto stream = streams_.begin(); stream != streams_.end();) {
      const Advance advance = Serve(*stream);
      worked |= advance != Advance::kIdle;
      if (advance != Advance::kDone) {
        ++stream;
        continue;
      }
      Close(*stream);
      stream = streams_.erase(stream);
    }
    return worked;
  }
  uint64_t wrong() const { return wrong_; }
  uint64_t streams() const { return served_; }
  bool is_lost() const { return is_lost_; }

 private:
  static constexpr uint32_t kPieceBytes = 65536;
  static constexpr uint32_t kPieces = 8;  // maximum per stream in flight to the client

  struct Stream {
    uint16_t id = 0;
    suede_socket* from = nullptr;
    suede_socket* back = nullptr;  // null until a client connects
    uint64_t received_bytes = 0;
    uint64_t wrong = 0;
    bool is_ending = false;  // the last response is in flight
    // Buffer of data to send back, or to receive into.
    struct Piece {
      suede_socket_result result = {};
      std::vector<uint8_t> room;
    };
    std::array<Piece, kPieces> pieces;
    uint32_t next_piece = 0;
  };

  void Listen(uint16_t id) {
    Stream stream{.id = id};
    for (Stream::Piece& piece : stream.pieces) piece.room.resize(kPieceBytes);
    const suede_socket_params params =
        MessageSocket(options_, SUEDE_SOCKET_RECEIVE, SUEDE_SOCKET_ANY, id);
    // Fails if all channels are in use. Clients then wait until a stream ends.
    if (suede_socket_open(sockets_, &params, &stream.from) == 0) {
      streams_.push_back(std::move(stream));
    }
  }
  static void Close(Stream& stream) {
    suede_socket_close(stream.back, 0, nullptr);
    suede_socket_close(stream.from, 0, nullptr);
  }

  // Handles a new client: opens the socket back to it, and a socket for the next client.
  Advance Accept(Stream& stream) {
    if (suede_socket_status(stream.from) == SUEDE_SOCKET_PENDING) return Advance::kIdle;
    suede_socket_info info{};
    info.size = sizeof info;
    suede_socket_get_info(stream.from, &info);
    Listen(stream.id);
    if (info.peer == SUEDE_SOCKET_ANY) return Advance::kDone;
    const suede_socket_params params =
        MessageSocket(options_, SUEDE_SOCKET_SEND, info.peer, stream.id);
    if (suede_socket_open(sockets_, &params, &stream.back) != 0) return Advance::kDone;
    ++served_;
    return Advance::kWorked;
  }

  static Stream::Piece& NextOf(Stream& stream) { return stream.pieces[stream.next_piece]; }

  // Sends the current piece back.
  Advance SendBack(Stream& stream, uint32_t bytes) {
    Stream::Piece& piece = NextOf(stream);
    const int error =
        suede_socket_start_send(stream.back, piece.room.data(), bytes, 0, &piece.result);
    stream.next_piece = (stream.next_piece + 1) % kPieces;
    return error == 0 ? Advance::kWorked : Advance::kDone;
  }

  Advance End(Stream& stream) {
    if (stream.id != kEchoSocket) {
      uint8_t* const report = NextOf(stream).room.data();
      StoreBe64(report, stream.received_bytes);
      StoreBe64(report + 8, stream.wrong);
      if (SendBack(stream, kReportBytes) == Advance::kDone) return Advance::kDone;
    }
    stream.is_ending = true;
    return Advance::kWorked;
  }

  Advance Serve(Stream& stream) {
    if (stream.back == nullptr) return Accept(stream);
    const uint32_t status = suede_socket_status(stream.back);
    if (status == SUEDE_SOCKET_PENDING) return Advance::kIdle;
    if (stream.is_ending) {
      // Keeps the stream until the client has received everything.
      const bool is_done = std::all_of(
          stream.pieces.begin(), stream.pieces.end(),
          [](const Stream::Piece& piece) { return piece.result.status != SUEDE_SOCKET_PENDING; });
      return is_done || status != SUEDE_SOCKET_OK ? Advance::kDone : Advance::kIdle;
    }
    // Leaves data in the socket while the piece is in flight.
    Stream::Piece& piece = NextOf(stream);
    if (piece.result.status == SUEDE_SOCKET_PENDING) return Advance::kIdle;
    const int count = suede_socket_receive(stream.from, piece.room.data(), kPieceBytes, 0);
    if (count == -EAGAIN) return Advance::kIdle;
    if (count == -ENODATA) return End(stream);
    is_lost_ |= count == -ECONNRESET;
    if (count < 0) return Advance::kDone;
    return Take(stream, static_cast<uint32_t>(count));
  }

  Advance Take(Stream& stream, uint32_t bytes) {
    if (stream.id == kCheckSocket &&
        std::memcmp(NextOf(stream).room.data(), pattern_.At(stream.received_bytes), bytes) != 0) {
      ++stream.wrong;
      ++wrong_;
    }
    stream.received_bytes += bytes;
    return stream.id == kEchoSocket ? SendBack(stream, bytes) : Advance::kWorked;
  }

  suede_sockets* const sockets_;
  const Options& options_;
  const StreamPattern pattern_;
  std::list<Stream> streams_;  // a list, because results must not move
  uint64_t wrong_ = 0;
  uint64_t served_ = 0;
  bool is_lost_ = false;
};

uint64_t ReceivedCommands(suede_sockets* sockets, StreamCounts* sums) {
  suede_sockets_counts counts{};
  counts.size = sizeof counts;
  suede_sockets_get_counts(sockets, &counts);
  sums->received = counts.received_commands;
  sums->data_bytes = counts.received_bytes;
  return counts.received_commands;
}

void Serve(const Options& options, suede_sockets* sockets, MessageServer* server,
           const std::atomic<bool>& stop) {
  constexpr timespec kSleep{.tv_sec = 0, .tv_nsec = 500'000};
  Progress progress(options, 0, 1);
  WorkerProgress* const board = progress.worker(0);
  board->stage = Stage::kServe;
  const TscClock clock = TscClock::Calibrate();
  StreamCounts sums;
  bool was_idle = false;
  ServeUntilEnd(
      options, clock, stop,
      [&](Time /*now*/) {
        const bool has_worked = server->Poll();
        if (has_worked && was_idle) board->received.store(ReceivedCommands(sockets, &sums));
        was_idle = !has_worked;
        return has_worked;
      },
      [&] { return server->is_lost(); }, [&] { nanosleep(&kSleep, nullptr); });
}

}  // namespace

int RunMessages(const Options& options, Document document, const std::atomic<bool>& stop) {
  absl::Status status;
  const Access access = OpenAccess(options, &status);
  if (access == nullptr) return FailToConnect(status);
  const TscClock clock = TscClock::Calibrate();
  return RunClient(
      options,
      [&](const Options& step, uint32_t bytes) {
        return RunInOne<LoadRun<MessageLoad>>(step, bytes, clock, nullptr, stop, access.get(),
                                              clock, step, bytes);
      },
      &document, stop);
}

int ServeMessages(const Options& options, Document document, const std::atomic<bool>& stop) {
  absl::Status status;
  const Access access = OpenAccess(options, &status);
  if (access == nullptr) return FailToConnect(status);
  std::fprintf(stderr, "suede-perf: serving message sockets\n");
  bool is_lost = false;
  StreamCounts sums;
  uint64_t streams = 0;
  InWorkers(1, options.cpus, [&](uint32_t) {
    MessageServer server(access.get(), options);
    Serve(options, access.get(), &server, stop);
    is_lost = server.is_lost();
    sums.wrong = server.wrong();
    streams = server.streams();
  });
  ReceivedCommands(access.get(), &sums);
  return ConcludeServer(options, &sums, streams, is_lost, &document);
}

}  // namespace suede::perf
