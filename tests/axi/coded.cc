// SPDX-License-Identifier: Apache-2.0
#include "coded.h"

#include <algorithm>
#include <cstring>

namespace suede::axi {
namespace {

bool IsActive(const Address& burst, uint32_t beat, uint32_t lane, uint32_t bus_bytes) {
  const auto first = static_cast<uint32_t>(BeatAddress(burst, beat) % bus_bytes);
  return lane >= first && lane < first + BeatBytes(burst, beat);
}

void ClearUnused(const Address& burst, uint32_t bus_bytes, std::vector<WriteBeat>& beats) {
  for (uint32_t beat = 0; beat < beats.size(); ++beat) {
    for (uint32_t lane = 0; lane < kMaxBusBytes; ++lane) {
      const uint64_t bit = uint64_t{1} << lane % 64;
      if (!IsActive(burst, beat, lane, bus_bytes)) beats[beat].strobes[lane / 64] &= ~bit;
      if ((beats[beat].strobes[lane / 64] & bit) == 0) beats[beat].data[lane] = 0;
    }
    beats[beat].last = 0;
  }
}

void ClearUnused(const Address& burst, uint32_t bus_bytes, std::vector<ReadBeat>& beats) {
  for (uint32_t beat = 0; beat < beats.size(); ++beat) {
    for (uint32_t lane = 0; lane < kMaxBusBytes; ++lane) {
      if (!IsActive(burst, beat, lane, bus_bytes)) beats[beat].data[lane] = 0;
    }
    beats[beat].last = 0;
    beats[beat].id = 0;
  }
}

class Parser {
 public:
  Parser(const Transaction& expected, Transaction* parsed) : parsed_(*parsed) {
    parsed_ = {.direction = expected.direction,
               .is_answer = expected.is_answer,
               .bus_bytes = expected.bus_bytes};
    if (expected.is_answer) parsed_.address = expected.address;
    body_.BeginParts();
  }

  // Parses what is there with each command, as a port does.
  Outcome Add(const Coded& coded) {
    Command command;
    const auto data_bytes = static_cast<uint32_t>(coded.data.size());
    const Parsed parsed = ParseControl(
        coded.control.data(), static_cast<uint32_t>(coded.control.size()), data_bytes, &command);
    if (parsed == Parsed::kForeign) return Outcome::kForeign;
    if (parsed == Parsed::kMalformed || !Fits(command)) return Outcome::kMalformed;
    if (has_number_ && command.number != parsed_.number) return Outcome::kMalformed;
    if (!body_.Store(command.part, coded.data.data(), data_bytes)) return Outcome::kMalformed;
    if (command.part == 0) first_ = command;
    parsed_.number = command.number;
    has_number_ = true;
    return Finish();
  }

 private:
  Outcome Finish() {
    if (!body_.HasPart(0)) return Outcome::kNotYet;
    if (parsed_.is_answer) return FinishAnswer();
    parsed_.address = first_.address;
    if (parsed_.direction == Direction::kRead) {
      return body_.ParseRead(&parsed_.address) ? Outcome::kComplete : Outcome::kMalformed;
    }
    const Body::Whole whole = body_.ParseWrite(first_.kind, &parsed_.address);
    if (whole == Body::Whole::kComplete) TakeWriteBeats();
    return OutcomeOf(whole);
  }

  static Outcome OutcomeOf(Body::Whole whole) {
    if (whole == Body::Whole::kMalformed) return Outcome::kMalformed;
    return whole == Body::Whole::kComplete ? Outcome::kComplete : Outcome::kNotYet;
  }

  bool Fits(const Command& command) const {
    const bool is_read = parsed_.direction == Direction::kRead;
    switch (command.kind) {
      case Kind::kRead:
        return !parsed_.is_answer && is_read;
      case Kind::kWrite:
      case Kind::kWriteWithAttributes:
      case Kind::kWriteMore:
        return !parsed_.is_answer && !is_read;
      case Kind::kAnswer:
        return parsed_.is_answer && command.answer.is_read == is_read;
      case Kind::kAnswerMore:
        return parsed_.is_answer && is_read;
    }
    return false;
  }

  Outcome FinishAnswer() {
    const Answer& answer = first_.answer;
    parsed_.status = answer.status;
    parsed_.response = answer.response;
    parsed_.beat_user_bytes = answer.beat_user_bytes;
    if (parsed_.direction == Direction::kWrite) {
      return body_.ParseWriteAnswer(answer, parsed_.user) ? Outcome::kComplete
                                                          : Outcome::kMalformed;
    }
    if (answer.status != Status::kOk) {
      return body_.bytes() == 0 ? Outcome::kComplete : Outcome::kMalformed;
    }
    const Body::Whole whole = body_.ParseReadAnswer(answer, parsed_.address);
    if (whole == Body::Whole::kComplete) TakeReadBeats(answer);
    return OutcomeOf(whole);
  }

  template <typename Take>
  void EachOctet(const Take& take) {
    uint32_t octet = 0;
    for (uint32_t beat = 0; beat < BeatsOf(parsed_.address); ++beat) {
      const auto lane =
          static_cast<uint32_t>(BeatAddress(parsed_.address, beat) % parsed_.bus_bytes);
      for (uint32_t i = 0; i < BeatBytes(parsed_.address, beat); ++i) {
        take(beat, lane + i, octet++);
      }
    }
  }

  void TakeWriteBeats() {
    std::vector<WriteBeat>& beats = parsed_.write_beats;
    beats.resize(BeatsOf(parsed_.address));
    for (uint32_t beat = 0; beat < beats.size(); ++beat) beats[beat].user = body_.BeatUser(beat);
    EachOctet([&](uint32_t beat, uint32_t lane, uint32_t octet) {
      beats[beat].data[lane] = body_.data()[octet];
      beats[beat].strobes[lane / 64] |= uint64_t{body_.IsStrobed(octet)} << lane % 64;
    });
    // Whether the body has users is in its attributes alone, so the test looks there.
    if (first_.kind == Kind::kWriteWithAttributes) parsed_.beat_user_bytes = body_.Part(0)[5] >> 5;
  }

  void TakeReadBeats(const Answer& answer) {
    std::vector<ReadBeat>& beats = parsed_.read_beats;
    beats.resize(BeatsOf(parsed_.address));
    for (uint32_t beat = 0; beat < beats.size(); ++beat) {
      beats[beat].user = body_.BeatUser(beat);
      beats[beat].response = body_.BeatResponse(beat, answer.response);
    }
    EachOctet([&](uint32_t beat, uint32_t lane, uint32_t octet) {
      beats[beat].data[lane] = body_.data()[octet];
    });
  }

  Transaction& parsed_;
  Body body_;
  Command first_;
  bool has_number_ = false;
};

}  // namespace

std::vector<Coded> Encode(const Transaction& transaction) {
  Body body;
  body.Begin(transaction.address);
  for (const WriteBeat& beat : transaction.write_beats) body.AddBeat(beat, transaction.bus_bytes);
  for (const ReadBeat& beat : transaction.read_beats) body.AddBeat(beat, transaction.bus_bytes);
  const bool is_read = transaction.direction == Direction::kRead;
  Kind kind = Kind::kRead;
  Answer answer = {
      .is_read = is_read, .response = transaction.response, .status = transaction.status};
  if (!transaction.is_answer) {
    if (is_read) {
      body.FinishRead(transaction.address);
    } else {
      kind = body.FinishWrite(transaction.beat_user_bytes);
    }
  } else if (!is_read) {
    body.FinishWriteAnswer(transaction.user, &answer);
  } else if (transaction.status == Status::kOk) {
    body.FinishReadAnswer(transaction.beat_user_bytes, &answer);
  }
  std::vector<Coded> commands(PartsOf(body.bytes()));
  for (uint32_t part = 0; part < commands.size(); ++part) {
    Coded& command = commands[part];
    const uint32_t data_bytes = body.PartBytes(part);
    command.data.assign(body.Part(part), body.Part(part) + data_bytes);
    if (part != 0) {
      command.control.resize(kMoreControlBytes);
      EncodeMore(transaction.is_answer ? Kind::kAnswerMore : Kind::kWriteMore, transaction.number,
                 static_cast<uint8_t>(part), data_bytes, command.control.data());
    } else if (transaction.is_answer) {
      command.control.resize(kAnswerControlBytes);
      EncodeAnswer(transaction.number, answer, data_bytes, command.control.data());
    } else {
      command.control.resize(kRequestControlBytes);
      EncodeRequest(kind, transaction.number, transaction.address, data_bytes,
                    command.control.data());
    }
  }
  return commands;
}

Outcome Parse(const std::vector<Coded>& commands, const Transaction& expected,
              Transaction* parsed) {
  Parser parser(expected, parsed);
  Outcome outcome = Outcome::kNotYet;
  for (const Coded& command : commands) {
    outcome = parser.Add(command);
    if (outcome == Outcome::kMalformed || outcome == Outcome::kForeign) return outcome;
  }
  return outcome;
}

Transaction Carried(Transaction transaction) {
  ClearUnused(transaction.address, transaction.bus_bytes, transaction.write_beats);
  ClearUnused(transaction.address, transaction.bus_bytes, transaction.read_beats);
  if (transaction.beat_user_bytes == 0) {
    for (WriteBeat& beat : transaction.write_beats) beat.user = 0;
    for (ReadBeat& beat : transaction.read_beats) beat.user = 0;
  }
  for (const ReadBeat& beat : transaction.read_beats) {
    transaction.response = std::max(transaction.response, beat.response);
  }
  return transaction;
}

bool AreSame(const Transaction& a, const Transaction& b) {
  const Transaction x = Carried(a);
  const Transaction y = Carried(b);
  const auto equal = [](const auto& left, const auto& right) {
    return left.size() == right.size() &&
           (left.empty() ||
            std::memcmp(left.data(), right.data(), left.size() * sizeof left[0]) == 0);
  };
  return x.direction == y.direction && x.is_answer == y.is_answer && x.number == y.number &&
         std::memcmp(&x.address, &y.address, sizeof x.address) == 0 &&
         x.beat_user_bytes == y.beat_user_bytes && equal(x.write_beats, y.write_beats) &&
         equal(x.read_beats, y.read_beats) && x.status == y.status && x.response == y.response &&
         x.user[0] == y.user[0] && x.user[1] == y.user[1];
}

}  // namespace suede::axi
