// SPDX-License-Identifier: Apache-2.0
#include "manager_world.h"

#include <algorithm>
#include <cstdlib>

namespace suede::axi {

uint32_t Seeds(uint32_t otherwise) {
  const char* const text = std::getenv("SUEDE_AXI_SEEDS");
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::atoi(text));
}

std::vector<Octets> BeatsByBook(const Address& burst) {
  const uint64_t number_bytes = uint64_t{1} << burst.size;
  const uint64_t beats = uint64_t{burst.len} + 1;
  const uint64_t container = number_bytes * beats;
  const uint64_t lower_wrap = burst.address / container * container;
  std::vector<Octets> octets;
  uint64_t address = burst.address;
  for (uint64_t n = 0; n < beats; ++n) {
    const uint64_t aligned = address / number_bytes * number_bytes;
    octets.push_back(
        {.first = address, .count = static_cast<uint32_t>(aligned + number_bytes - address)});
    if (burst.burst == SUEDE_AXI_FIXED) continue;
    address = aligned + number_bytes;
    if (burst.burst == SUEDE_AXI_WRAP && address == lower_wrap + container) address = lower_wrap;
  }
  return octets;
}

Address Incr(uint64_t address, uint32_t beats, uint32_t id, uint8_t size) {
  Address burst = {};
  burst.address = address;
  burst.len = static_cast<uint8_t>(beats - 1);
  burst.size = size;
  burst.burst = SUEDE_AXI_INCR;
  burst.id = id;
  return burst;
}

Address RandomBurst(Random& random, uint32_t bus_bytes) {
  for (;;) {
    Address burst = {};
    burst.burst = static_cast<uint8_t>(Below(random, 3));
    do {
      burst.size = static_cast<uint8_t>(Below(random, 8));
    } while (1u << burst.size > bus_bytes);
    const bool is_long = burst.burst == SUEDE_AXI_INCR && Below(random, 2) == 0;
    burst.len = static_cast<uint8_t>(Below(random, is_long ? 256 : 16));
    burst.address = random() >> Below(random, 64);
    if (is_long && Below(random, 2) == 0) burst.address &= ~uint64_t{4095};
    if (burst.burst == SUEDE_AXI_WRAP || Below(random, 2) == 0) {
      burst.address &= ~((uint64_t{1} << burst.size) - 1);
    }
    burst.id = static_cast<uint32_t>(random() >> Below(random, 64));
    burst.cache = static_cast<uint8_t>(Below(random, 16));
    burst.prot = static_cast<uint8_t>(Below(random, 8));
    burst.qos = static_cast<uint8_t>(Below(random, 2) * Below(random, 16));
    burst.region = static_cast<uint8_t>(Below(random, 2) * Below(random, 16));
    if (FindViolation(burst, bus_bytes) == nullptr) return burst;
  }
}

std::vector<WriteBeat> RandomBeats(Random& random, const Address& burst, uint32_t bus_bytes,
                                   bool has_strobes, uint32_t user_bytes) {
  std::vector<WriteBeat> beats(BeatsOf(burst));
  for (WriteBeat& beat : beats) {
    for (uint32_t lane = 0; lane < bus_bytes; ++lane) {
      beat.data[lane] = static_cast<uint8_t>(random());
    }
    for (uint64_t& strobes : beat.strobes) strobes = has_strobes ? random() : ~uint64_t{0};
    if (user_bytes != 0) beat.user = static_cast<uint32_t>(random()) >> (32 - 8 * user_bytes);
  }
  beats.back().last = 1;
  return beats;
}

void Execute(const Address& burst, const WriteBeat* beat, uint32_t bus_bytes,
             std::vector<Stored>* log) {
  for (const Octets& octets : BeatsByBook(burst)) {
    uint64_t lanes_in_use[2] = {};
    for (uint32_t i = 0; i < octets.count; ++i) {
      const auto lane = static_cast<uint32_t>((octets.first + i) % bus_bytes);
      lanes_in_use[lane / 64] |= uint64_t{1} << lane % 64;
      if ((beat->strobes[lane / 64] >> lane % 64 & 1) != 0) {
        log->push_back({.address = octets.first + i, .value = beat->data[lane]});
      }
    }
    for (int half = 0; half < 2; ++half) {
      EXPECT_EQ(beat->strobes[half] & ~lanes_in_use[half], 0u) << "a strobe outside of the beat";
    }
    ++beat;
  }
}

std::vector<WriteBeat> OnlyActive(const Address& burst, std::vector<WriteBeat> beats,
                                  uint32_t bus_bytes) {
  const std::vector<Octets> book = BeatsByBook(burst);
  for (size_t n = 0; n < beats.size(); ++n) {
    uint64_t strobes[2] = {};
    for (uint32_t i = 0; i < book[n].count; ++i) {
      const auto lane = static_cast<uint32_t>((book[n].first + i) % bus_bytes);
      strobes[lane / 64] |= beats[n].strobes[lane / 64] & uint64_t{1} << lane % 64;
    }
    beats[n].strobes[0] = strobes[0];
    beats[n].strobes[1] = strobes[1];
  }
  return beats;
}

namespace {

std::vector<WireCommand> Commands(Kind kind, uint32_t number, const Address& burst,
                                  const Body& body) {
  std::vector<WireCommand> commands;
  for (uint32_t part = 0; part < PartsOf(body.bytes()); ++part) {
    const uint32_t bytes = body.PartBytes(part);
    WireCommand command;
    command.control.resize(part == 0 ? kRequestControlBytes : kMoreControlBytes);
    command.data.assign(body.Part(part), body.Part(part) + bytes);
    if (part == 0) {
      EncodeRequest(kind, number, burst, bytes, command.control.data());
    } else {
      EncodeMore(Kind::kWriteMore, number, static_cast<uint8_t>(part), bytes,
                 command.control.data());
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace

std::vector<WireCommand> EncodeWrite(uint32_t number, const Address& burst,
                                     const std::vector<WriteBeat>& beats, uint32_t bus_bytes,
                                     uint32_t user_bytes) {
  Body body;
  body.Begin(burst);
  for (const WriteBeat& beat : beats) body.AddBeat(beat, bus_bytes);
  const Kind kind = body.FinishWrite(user_bytes);
  return Commands(kind, number, burst, body);
}

std::vector<WireCommand> EncodeRead(uint32_t number, const Address& burst) {
  Body body;
  body.FinishRead(burst);
  return Commands(Kind::kRead, number, burst, body);
}

// ---- Answers.

int CreditedSink::Send(const Burst& burst) {
  const uint32_t lane = ServedLane(burst.to);
  EXPECT_EQ(burst.to.vc, 1);
  if (is_lost[burst.to.plane]) return kLost;
  uint32_t count = burst.count;
  if (const auto entry = credit.find(lane); entry != credit.end()) {
    count = std::min(count, entry->second);
    entry->second -= count;
  }
  for (uint32_t i = 0; i < count; ++i) {
    OnCommand(lane, burst.controls + size_t{i} * kMaxControlBytes,
              burst.data + size_t{i} * burst.data_bytes, burst.data_bytes);
  }
  return static_cast<int>(count);
}

void CreditedSink::OnCommand(uint32_t lane, const uint8_t* control, const uint8_t* data,
                             uint32_t data_bytes) {
  ++commands;
  EXPECT_EQ((control[0] & 0x10) != 0, data_bytes != 0);
  if (data_bytes != 0) {
    EXPECT_EQ(control[1] + 1u, data_bytes);
  }
  Command command;
  ASSERT_EQ(ParseControl(control, (control[0] & 0xfu) * 2, data_bytes, &command), Parsed::kCommand);
  const uint64_t key = uint64_t{lane} << 32 | command.number;
  if (command.kind == Kind::kAnswer) {
    heads.push_back(lane);
    for (auto it = open_.begin(); it != open_.end() && !is_unordered; ++it) {
      EXPECT_NE(it->first >> 32, lane) << "commands of two answers are mixed";
    }
    Part& part = open_[key];
    EXPECT_EQ(part.body, nullptr);
    part.answer = command.answer;
    part.body = std::make_unique<Body>();
    part.body->BeginParts();
    EXPECT_TRUE(part.body->Store(0, data, data_bytes));
  } else {
    ASSERT_EQ(command.kind, Kind::kAnswerMore);
    ASSERT_TRUE(open_.contains(key));
    EXPECT_EQ(command.part, open_[key].next_part++);
    EXPECT_TRUE(open_[key].body->Store(command.part, data, data_bytes));
  }
  if (Finish(lane, command.number, open_[key])) open_.erase(key);
}

bool CreditedSink::Finish(uint32_t lane, uint32_t number, const Part& part) {
  GotAnswer got{.lane = lane, .number = number, .answer = part.answer};
  if (part.answer.status != Status::kOk) {
    answers.push_back(got);
    return true;
  }
  if (!part.answer.is_read) {
    EXPECT_TRUE(part.body->ParseWriteAnswer(part.answer, got.user));
    answers.push_back(got);
    return true;
  }
  const auto entry = bursts.find(uint64_t{lane} << 32 | number);
  if (entry == bursts.end()) {
    ADD_FAILURE() << "answer to no request";
    return true;
  }
  const Address& burst = entry->second;
  const Body::Whole whole = part.body->ParseReadAnswer(part.answer, burst);
  EXPECT_NE(whole, Body::Whole::kMalformed);
  if (whole == Body::Whole::kNotYet) return false;
  got.octets.assign(part.body->data(), part.body->data() + ActiveBytes(burst));
  for (uint32_t beat = 0; beat < BeatsOf(burst); ++beat) {
    got.responses.push_back(part.body->BeatResponse(beat, part.answer.response));
    got.users.push_back(part.body->BeatUser(beat));
  }
  answers.push_back(std::move(got));
  return true;
}

// ---- World.

void ManagerWorld::Make(const ManagerParams& with) {
  params = with;
  sink.is_unordered = params.is_unordered;
  manager = std::make_unique<Manager>(params);
}

void ManagerWorld::TearDown() {
  if (manager != nullptr) manager->CheckInvariants();
}

void ManagerWorld::Give(const Route& from, const WireCommand& command) {
  ASSERT_TRUE(manager->CanTake());
  // An own copy of each length, so that a sanitizer sees reads beyond it.
  const std::vector<uint8_t> control = command.control;
  const std::vector<uint8_t> data = command.data;
  manager->OnCommand(from, control.data(), static_cast<uint32_t>(control.size()), data.data(),
                     static_cast<uint32_t>(data.size()), now, sink);
}

void ManagerWorld::Write(const Route& from, uint32_t number, const Address& burst,
                         const std::vector<WriteBeat>& beats) {
  sink.Expect(ServedLane(from), number, burst);
  for (const WireCommand& command : EncodeWrite(number, burst, beats, kMaxBusBytes, 0)) {
    Give(from, command);
  }
}

void ManagerWorld::WriteZeros(const Route& from, uint32_t number, const Address& burst) {
  std::vector<WriteBeat> beats(BeatsOf(burst));
  for (WriteBeat& beat : beats) beat.strobes[0] = beat.strobes[1] = ~uint64_t{0};
  Write(from, number, burst, beats);
}

void ManagerWorld::Read(const Route& from, uint32_t number, const Address& burst) {
  sink.Expect(ServedLane(from), number, burst);
  for (const WireCommand& command : EncodeRead(number, burst)) Give(from, command);
}

GotAnswer ManagerWorld::TakeAnswer() {
  EXPECT_FALSE(sink.answers.empty());
  if (sink.answers.empty()) return {};
  GotAnswer first = sink.answers.front();
  sink.answers.pop_front();
  return first;
}

void ManagerWorld::ExpectAnswer(uint32_t number, Status status, uint8_t response) {
  const GotAnswer got = TakeAnswer();
  EXPECT_EQ(got.number, number);
  EXPECT_EQ(got.answer.status, status);
  EXPECT_EQ(got.answer.response, response);
}

void ManagerWorld::TakeAll() {
  for (bool moved = true; moved;) {
    Address address;
    WriteBeat beat;
    moved = manager->Pump(sink, now);
    for (; manager->TakeAw(&address); moved = true) aws.push_back(address);
    for (; manager->TakeW(&beat); moved = true) ws.push_back(beat);
    for (; manager->TakeAr(&address); moved = true) ars.push_back(address);
  }
}

void ManagerWorld::RespondB(uint32_t id, uint8_t response) {
  WriteResponse b = {};
  b.id = id;
  b.response = response;
  EXPECT_TRUE(manager->SendB(b));
}

void ManagerWorld::RespondR(const Address& issued, uint8_t response) {
  ReadBeat beat = {};
  beat.id = issued.id;
  beat.response = response;
  for (uint32_t i = 0; i < BeatsOf(issued); ++i) {
    beat.last = i == issued.len ? 1 : 0;
    EXPECT_TRUE(manager->SendR(beat));
  }
}

}  // namespace suede::axi
