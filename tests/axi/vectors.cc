// SPDX-License-Identifier: Apache-2.0
#include "vectors.h"

#include <functional>
#include <utility>

namespace suede::axi {
namespace {

constexpr uint8_t kFixed = SUEDE_AXI_FIXED;
constexpr uint8_t kIncr = SUEDE_AXI_INCR;
constexpr uint8_t kWrap = SUEDE_AXI_WRAP;

class Maker {
 public:
  std::vector<Vector> Take() { return std::move(vectors_); }

  void Read(const char* name, const Address& address) { Add(name, {.address = address}); }

  // Fills the beats of a write or of a read's answer; `change` adds to them.
  using Change = std::function<void(Transaction&)>;
  void Write(const char* name, uint32_t bus_bits, const Address& address,
             const Change& change = nullptr) {
    Transaction write = {
        .direction = Direction::kWrite, .bus_bytes = bus_bits / 8, .address = address};
    for (uint32_t beat = 0; beat < BeatsOf(address); ++beat) {
      WriteBeat written = {.strobes = {UINT64_MAX, UINT64_MAX}};
      for (uint8_t& octet : written.data) octet = Octet();
      write.write_beats.push_back(written);
    }
    if (change) change(write);
    Add(name, write);
  }
  void ReadAnswer(const char* name, uint32_t bus_bits, const Address& address,
                  const Change& change = nullptr) {
    Transaction answer = {.is_answer = true, .bus_bytes = bus_bits / 8, .address = address};
    for (uint32_t beat = 0; beat < BeatsOf(address); ++beat) {
      ReadBeat read = {};
      for (uint8_t& octet : read.data) octet = Octet();
      answer.read_beats.push_back(read);
    }
    if (change) change(answer);
    Add(name, answer);
  }
  void WriteAnswer(const char* name, uint8_t response, uint64_t user_high = 0,
                   uint64_t user_low = 0) {
    Add(name, {.direction = Direction::kWrite,
               .is_answer = true,
               .response = response,
               .user = {user_low, user_high}});
  }
  void Refusal(const char* name, Direction direction, Status status) {
    Add(name, {.direction = direction,
               .is_answer = true,
               .address = {.address = 0x1000, .size = 2, .burst = kIncr},
               .status = status,
               .response = SUEDE_AXI_SLVERR});
  }

  // Commands of the last complete vector with a change that breaks a rule.
  void Broken(const char* name, const std::function<void(std::vector<Coded>&)>& breaks,
              Outcome outcome = Outcome::kMalformed) {
    Vector broken = {.name = name, .outcome = outcome, .commands = last_.commands};
    broken.transaction.direction = last_.transaction.direction;
    broken.transaction.is_answer = last_.transaction.is_answer;
    broken.transaction.address = last_.transaction.address;
    breaks(broken.commands);
    vectors_.push_back(broken);
  }
  void BrokenControl(const char* name, size_t octet, int value) {
    Broken(name, [&](std::vector<Coded>& commands) {
      commands[0].control[octet] = static_cast<uint8_t>(value);
    });
  }
  void BrokenData(const char* name, size_t octet, int value) {
    Broken(name, [&](std::vector<Coded>& commands) {
      commands[0].data[octet] = static_cast<uint8_t>(value);
    });
  }

 private:
  uint8_t Octet() {
    octet_ = octet_ * 1664525 + 1013904223;
    return static_cast<uint8_t>(octet_ >> 24);
  }

  void Add(const char* name, Transaction transaction) {
    transaction.number = number_ += 0x01234567;
    transaction = Carried(transaction);
    last_ = {.name = name, .transaction = transaction, .commands = Encode(transaction)};
    vectors_.push_back(last_);
  }

  std::vector<Vector> vectors_;
  Vector last_;
  uint32_t number_ = 0xfedcba98;
  uint32_t octet_ = 1;
};

void MakeReads(Maker& make) {
  make.Read("read of one beat", {.address = 0x1000, .size = 2, .burst = kIncr});
  make.Read("read, INCR, all fields of the control", {.address = 0x0123456789abc0e0,
                                                      .id = 0xa5,
                                                      .len = 15,
                                                      .size = 5,
                                                      .burst = kIncr,
                                                      .cache = 0xb,
                                                      .prot = 5});
  make.Read("read, FIXED, unaligned",
            {.address = 0x40000003, .id = 1, .len = 15, .size = 3, .burst = kFixed, .prot = 2});
  make.Read("read, WRAP from the middle", {.address = 0x20b0, .len = 7, .size = 4, .burst = kWrap});
  make.Read("read of the last octets of all",
            {.address = UINT64_MAX - 6, .size = 7, .burst = kIncr, .cache = 15, .prot = 7});
  make.Read("read of 4 KiB", {.address = 0x7000, .len = 255, .size = 4, .burst = kIncr});
  make.Read("read with an ID of 9 bits",
            {.address = 0x1000, .id = 0x1a5, .size = 2, .burst = kIncr});
  make.Read("read with an ID of 32 bits",
            {.address = 0x1000, .id = 0xfedcba98, .size = 2, .burst = kIncr});
  make.Read("read with QoS", {.address = 0x1000, .size = 2, .burst = kIncr, .qos = 9});
  make.Read("read with region", {.address = 0x1000, .size = 2, .burst = kIncr, .region = 6});
  make.Read("read, exclusive",
            {.address = 0x1080, .len = 15, .size = 3, .burst = kIncr, .lock = 1});
  make.Read("read with AxUSER of one octet",
            {.address = 0x1000, .user = {1, 0}, .size = 2, .burst = kIncr});
  make.Read("read with AxUSER of nine octets",
            {.address = 0x1000, .user = {0, 1}, .size = 2, .burst = kIncr});
  make.Read("read with all attributes", {.address = 0x1ffe,
                                         .user = {0x1122334455667788, 0x99aabbccddeeff00},
                                         .id = 0x80000001,
                                         .len = 1,
                                         .size = 0,
                                         .burst = kIncr,
                                         .lock = 1,
                                         .cache = 3,
                                         .prot = 1,
                                         .qos = 15,
                                         .region = 15});
}

void MakeBrokenReads(Maker& make) {
  make.BrokenData("read with reserved bits of the attributes", 0, 0x81);
  make.BrokenData("read with strobes", 0, 0xc0);
  make.BrokenData("read with WUSER", 5, 0x30);
  make.BrokenData("read with AxUSER of 17 octets", 5, 0x11);
  make.BrokenData("read with AxUSER that begins with 0", 6, 0);
  make.Broken("read with attributes that are too long",
              [](std::vector<Coded>& commands) { commands[0].data.push_back(0); });
  make.Read("read of two beats", {.address = 0x1000, .len = 1, .size = 2, .burst = kIncr});
  make.Broken("read with attributes that are all default",
              [](std::vector<Coded>& commands) { commands[0].data.resize(6); });
  make.BrokenControl("read with AxBURST 3", 16, 0x0b);
  make.Broken("read, WRAP of three beats", [](std::vector<Coded>& commands) {
    commands[0].control[15] = 2;
    commands[0].control[16] = 0x0a;
  });
  make.Broken("read across 4 KiB", [](std::vector<Coded>& commands) {
    commands[0].control[13] = 0x1f;
    commands[0].control[14] = 0xfc;
  });
  make.Broken(
      "command of another class",
      [](std::vector<Coded>& commands) { commands[0].control[0] = 0xa9; }, Outcome::kForeign);
  make.Broken(
      "command of another kind",
      [](std::vector<Coded>& commands) { commands[0].control[2] = 0x90; }, Outcome::kForeign);
  make.Broken(
      "read with a control of 16 octets",
      [](std::vector<Coded>& commands) {
        commands[0].control.resize(16);
        commands[0].control[0] = 0xc8;
      },
      Outcome::kForeign);
}

void MakePlainWrites(Maker& make) {
  make.Write("write of one beat", 32, {.address = 0x1000, .size = 2, .burst = kIncr});
  make.Write("write, INCR, all fields of the control", 128,
             {.address = 0xfedcba9876543200,
              .id = 0x5a,
              .len = 3,
              .size = 4,
              .burst = kIncr,
              .cache = 0xf,
              .prot = 2});
  make.Write("write, INCR, unaligned", 64,
             {.address = 0x1005, .id = 7, .len = 3, .size = 3, .burst = kIncr});
  make.Write("write, INCR, narrow: 1 of 8 octets", 64,
             {.address = 0x1006, .len = 4, .size = 0, .burst = kIncr});
  make.Write("write, INCR, narrow and unaligned: 2 of 128 octets", 1024,
             {.address = 0x107b, .len = 4, .size = 1, .burst = kIncr});
  make.Write("write, FIXED", 32, {.address = 0x1004, .len = 2, .size = 2, .burst = kFixed});
  make.Write("write, FIXED, narrow and unaligned", 128,
             {.address = 0x1016, .len = 3, .size = 2, .burst = kFixed});
  make.Write("write, WRAP of four beats from the third", 64,
             {.address = 0x1030, .len = 3, .size = 3, .burst = kWrap});
  make.Write("write, WRAP of 16 beats from the last, narrow", 256,
             {.address = 0x101e, .len = 15, .size = 1, .burst = kWrap});
  make.Write("write of 4 KiB: 16 commands", 1024,
             {.address = 0x5000, .len = 31, .size = 7, .burst = kIncr});
  make.Write("write of 256 octets: one command", 512,
             {.address = 0x1000, .len = 3, .size = 6, .burst = kIncr});
  make.Write("write of 257 octets: two commands", 128,
             {.address = 0x100f, .len = 16, .size = 4, .burst = kIncr});
}

void MakeBrokenWrites(Maker& make) {
  make.Broken("write with a part that is twice there",
              [](std::vector<Coded>& commands) { commands.push_back(commands[1]); });
  make.Broken("write with one part more", [](std::vector<Coded>& commands) {
    commands.push_back(commands[1]);
    commands[2].control[7] = 2;
  });
  make.Broken("write with a first part that is too short",
              [](std::vector<Coded>& commands) { commands[0].data.pop_back(); });
  make.Broken("write with a last part that is too long",
              [](std::vector<Coded>& commands) { commands[1].data.push_back(0); });
  make.Broken("continuation 0", [](std::vector<Coded>& commands) { commands[1].control[7] = 0; });
  make.Broken("continuation with reserved bits",
              [](std::vector<Coded>& commands) { commands[1].control[2] |= 1; });
  make.Broken("continuation without data",
              [](std::vector<Coded>& commands) { commands[1].data.clear(); });
  make.Broken("write without data", [](std::vector<Coded>& commands) {
    commands.resize(1);
    commands[0].data.clear();
  });
}

void MakeStrobedWrites(Maker& make) {
  make.Write("write with strobes", 64, {.address = 0x1000, .len = 1, .size = 3, .burst = kIncr},
             [](Transaction& write) {
               write.write_beats[0].strobes[0] = 0xf7;
               write.write_beats[1].strobes[0] = 0x3c;
             });
  make.Write("write without any strobe", 32,
             {.address = 0x1000, .len = 2, .size = 2, .burst = kIncr}, [](Transaction& write) {
               for (WriteBeat& beat : write.write_beats) beat.strobes[0] = 0;
             });
  make.Write("write with strobes, unaligned: 11 octets", 32,
             {.address = 0x1001, .id = 3, .len = 2, .size = 2, .burst = kIncr},
             [](Transaction& write) { write.write_beats[1].strobes[0] = 0b0111; });
  make.BrokenData("write with strobes that are not filled with 0", 7, 0x0f);
  make.BrokenData("write with an octet whose strobe is 0", 8 + 6, 0xff);
  make.BrokenData("write with strobes that are all 1", 6, 0xff);
  make.Write("write with strobes, WRAP, narrow on lanes from 64 on", 1024,
             {.address = 0x10c8, .len = 3, .size = 2, .burst = kWrap}, [](Transaction& write) {
               write.write_beats[1].strobes[1] = 0x0a00;
               write.write_beats[3].strobes[1] = 0;
             });
}

void MakeWritesWithAttributes(Maker& make) {
  make.Write("write with an ID of 32 bits", 32,
             {.address = 0x1000, .id = 0x89abcdef, .size = 2, .burst = kIncr});
  make.Write(
      "write, exclusive", 128,
      {.address = 0x1040, .id = 2, .len = 3, .size = 4, .burst = kIncr, .lock = 1, .cache = 2});
  make.BrokenControl("write, exclusive, unaligned", 14, 0x50);
  make.BrokenControl("write, exclusive, of three beats", 15, 2);
  make.Write(
      "write with QoS, region and AxUSER", 32,
      {.address = 0x1000, .user = {0xabcdef, 0}, .size = 2, .burst = kIncr, .qos = 1, .region = 2});
  make.Broken("write with attributes that are all default", [](std::vector<Coded>& commands) {
    commands[0].data[1] = commands[0].data[5] = 0;
    commands[0].data.erase(commands[0].data.begin() + 6, commands[0].data.begin() + 9);
  });
  make.BrokenData("write with WUSER of five octets", 5, 0xa3);
  make.Write("write with WUSER of one octet", 32,
             {.address = 0x1000, .len = 2, .size = 2, .burst = kIncr}, [](Transaction& write) {
               write.beat_user_bytes = 1;
               for (uint32_t i = 0; i < 3; ++i) write.write_beats[i].user = 0xa0 + i;
             });
  make.Write("write with WUSER of two octets, all 0", 32,
             {.address = 0x1002, .len = 1, .size = 2, .burst = kIncr},
             [](Transaction& write) { write.beat_user_bytes = 2; });
  make.Write("write with all", 64,
             {.address = 0x1fe3,
              .user = {0x8070605040302010, 0xf0},
              .id = 0x12345678,
              .len = 3,
              .size = 3,
              .burst = kIncr,
              .cache = 1,
              .prot = 3,
              .qos = 4,
              .region = 5},
             [](Transaction& write) {
               write.beat_user_bytes = 4;
               for (uint32_t i = 0; i < 4; ++i) {
                 write.write_beats[i].user = 0x01020304 * i;
                 write.write_beats[i].strobes[0] = 0xe7;
               }
             });
  make.Write("write of the longest body: 23 commands", 128,
             {.address = 0x3000,
              .user = {0x0706050403020100, 0x0f0e0d0c0b0a0908},
              .len = 255,
              .size = 4,
              .burst = kIncr},
             [](Transaction& write) {
               write.beat_user_bytes = 4;
               for (uint32_t i = 0; i < 256; ++i) {
                 write.write_beats[i].user = i * 0x01010101;
                 write.write_beats[i].strobes[0] = 0xffff ^ i;
               }
             });
}

void MakeReadAnswers(Maker& make) {
  make.ReadAnswer("answer to a read of one beat", 32,
                  {.address = 0x1000, .size = 2, .burst = kIncr});
  make.ReadAnswer("answer to a read, unaligned and narrow", 256,
                  {.address = 0x101d, .len = 4, .size = 1, .burst = kIncr});
  make.ReadAnswer("answer to a read, WRAP", 128,
                  {.address = 0x1060, .len = 7, .size = 4, .burst = kWrap});
  make.ReadAnswer("answer to a read, FIXED, unaligned", 64,
                  {.address = 0x1003, .len = 3, .size = 3, .burst = kFixed});
  make.ReadAnswer("answer to an exclusive read, EXOKAY", 64,
                  {.address = 0x1010, .len = 1, .size = 3, .burst = kIncr, .lock = 1},
                  [](Transaction& answer) {
                    for (ReadBeat& beat : answer.read_beats) beat.response = SUEDE_AXI_EXOKAY;
                  });
  make.ReadAnswer("answer to a read, DECERR of all beats", 32,
                  {.address = 0x1000, .len = 3, .size = 2, .burst = kIncr},
                  [](Transaction& answer) {
                    for (ReadBeat& beat : answer.read_beats) beat.response = SUEDE_AXI_DECERR;
                  });
  make.ReadAnswer("answer to a read with RUSER", 32,
                  {.address = 0x1000, .len = 2, .size = 2, .burst = kIncr},
                  [](Transaction& answer) {
                    answer.beat_user_bytes = 3;
                    for (uint32_t i = 0; i < 3; ++i) answer.read_beats[i].user = 0x010203 << i;
                  });
  make.ReadAnswer("answer to a read of 4 KiB with differing responses: 17 commands", 1024,
                  {.address = 0x1000, .len = 31, .size = 7, .burst = kIncr},
                  [](Transaction& answer) {
                    answer.read_beats[0].response = SUEDE_AXI_SLVERR;
                    answer.read_beats[30].response = SUEDE_AXI_DECERR;
                  });
  make.ReadAnswer("answer to a read with differing responses and RUSER", 32,
                  {.address = 0x1002, .len = 4, .size = 2, .burst = kIncr},
                  [](Transaction& answer) {
                    answer.beat_user_bytes = 1;
                    for (uint32_t i = 0; i < 5; ++i) answer.read_beats[i].user = 0xf0 + i;
                    answer.read_beats[1].response = SUEDE_AXI_SLVERR;
                    answer.read_beats[4].response = SUEDE_AXI_EXOKAY;
                  });
}

void MakeBrokenAnswers(Maker& make) {
  make.BrokenControl("answer whose response is not the largest of its beats", 2, 0xef);
  make.BrokenData("answer with responses of beats that are not filled with 0", 1, 0x05);
  make.BrokenControl("answer with RUSER of five octets", 8, 0xa0);
  make.BrokenControl("answer to a read with BUSER", 8, 0x21);
  make.BrokenControl("answer with octet 9", 9, 1);
  make.BrokenControl("answer with a status of the initiator", 7, 32);
  make.Broken("answer with responses of beats that are all the same",
              [](std::vector<Coded>& commands) {
                commands[0].data[0] = 0xaa;
                commands[0].data[1] = 2;
              });
  make.Broken("answer that is too short",
              [](std::vector<Coded>& commands) { commands[0].data.pop_back(); });
}

void MakeWriteAnswers(Maker& make) {
  make.WriteAnswer("answer to a write, OKAY", SUEDE_AXI_OKAY);
  make.WriteAnswer("answer to an exclusive write, EXOKAY", SUEDE_AXI_EXOKAY);
  make.WriteAnswer("answer to a write, DECERR, BUSER of 16 octets", SUEDE_AXI_DECERR,
                   0xf1e2d3c4b5a69788, 0x0123456789abcdef);
  make.WriteAnswer("answer to a write, SLVERR, BUSER of two octets", SUEDE_AXI_SLVERR, 0, 0x123);
  make.BrokenControl("answer to a write with responses of beats", 2, 0xe6);
  make.BrokenControl("answer to a write with BUSER of another length", 8, 3);
  make.BrokenData("answer to a write with BUSER that begins with 0", 0, 0);
  make.Refusal("BUSY to a read", Direction::kRead, Status::kBusy);
  make.Refusal("MALFORMED to a write", Direction::kWrite, Status::kMalformed);
  make.Refusal("RESET to a read", Direction::kRead, Status::kReset);
  make.BrokenControl("RESET with another response", 2, 0xeb);
  make.Broken("RESET with data", [](std::vector<Coded>& commands) { commands[0].data.resize(4); });
}

// Octets 0 and 1 fit the data also of commands that break a rule.
void SetLengths(Coded& command) {
  const size_t data_bytes = command.data.size();
  command.control[0] =
      static_cast<uint8_t>((command.control[0] & 0xef) | (data_bytes != 0 ? 0x10 : 0));
  command.control[1] = static_cast<uint8_t>(data_bytes != 0 ? data_bytes - 1 : 0);
}

}  // namespace

std::vector<Vector> MakeVectors() {
  Maker make;
  MakeReads(make);
  MakeBrokenReads(make);
  MakePlainWrites(make);
  MakeBrokenWrites(make);
  MakeStrobedWrites(make);
  MakeWritesWithAttributes(make);
  MakeReadAnswers(make);
  MakeBrokenAnswers(make);
  MakeWriteAnswers(make);
  std::vector<Vector> vectors = make.Take();
  for (Vector& vector : vectors) {
    if (vector.outcome == Outcome::kComplete) continue;
    for (Coded& command : vector.commands) SetLengths(command);
  }
  return vectors;
}

}  // namespace suede::axi
