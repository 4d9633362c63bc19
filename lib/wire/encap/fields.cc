// SPDX-License-Identifier: Apache-2.0
#include "wire/encap/fields.h"

#include "base/big_endian.h"
#include "wire/ethernet.h"

namespace suede {
namespace {

constexpr HeaderField kTag[] = {
    ConstField("TPID", FieldBase::kFrame, 96, 16, kTypeTag, "0x8100", "the same"),
    ValueField("PCP", FieldBase::kFrame, 112, 3, FieldKey::kPcp, "of the class", "ignored"),
    ValueField("DEI", FieldBase::kFrame, 115, 1, FieldKey::kDei, "0", "ignored"),
    ValueField("VID", FieldBase::kFrame, 116, 12, FieldKey::kVid, "as configured", "ignored"),
};

// The usual `op` is 2: suede sends it if it has neither an ACK nor a NACK.
constexpr HeaderField kRh[] = {
    ValueField("version", FieldBase::kFrame, 0, 2, FieldKey::kVer, "", ""),
    ValueField("op", FieldBase::kFrame, 2, 2, FieldKey::kOp, "", "", /*usual=*/2),
    ValueField("reserved", FieldBase::kFrame, 4, 2, FieldKey::kRsv, "", ""),
    ValueField("xpuid", FieldBase::kFrame, 6, 10, FieldKey::kXpuid, "", ""),
    ValueField("PSN", FieldBase::kFrame, 16, 16, FieldKey::kPsn, "", ""),
    ValueField("VC", FieldBase::kFrame, 32, 2, FieldKey::kVc, "", ""),
    ValueField("reserved", FieldBase::kFrame, 34, 4, FieldKey::kRsvd, "", ""),
    ValueField("partition", FieldBase::kFrame, 38, 10, FieldKey::kPartition, "", ""),
    ValueField("RPSN", FieldBase::kFrame, 48, 16, FieldKey::kRpsn, "", ""),
};

// Whether descriptions leave out the field if its value is the usual one.
constexpr bool ShownWhereUnusual(FieldKey key) {
  constexpr Shown kShown[] = {
#define SUEDE_FIELD_SHOWN(id, name, kind, min, max, shown, ...) Shown::k##shown,
      SUEDE_FIELD_KEYS(SUEDE_FIELD_SHOWN)
#undef SUEDE_FIELD_SHOWN
  };
  return kShown[static_cast<size_t>(key)] == Shown::kUnusual;
}

void SetRead(const HeaderField& field, NetAddress value, uint64_t usual, FieldValues& values) {
  if (ShownWhereUnusual(field.key) && value == NetAddress{.low = usual}) return;
  values.Set(field.key, value);
}

// Returns the value of a field as read, less its bias.
NetAddress Unbiased(const HeaderField& field, NetAddress read) {
  if (field.bias == 0) return read;
  return {.low = (read.low - field.bias) & ((uint64_t{1} << field.bits) - 1)};
}

// Returns the value that the rules require of the field.
uint64_t RuledValue(const FrameRules& rules, FieldKey key) {
  return key == FieldKey::kMacPrefix ? rules.mac_prefix
                                     : EtherTypeOf(rules.encap, rules.ether_type);
}

// Reads the headers that are complete in the frame.
class HeaderReader {
 public:
  HeaderReader(const FrameRules& rules, std::span<const uint8_t> frame, uint32_t l2,
               FieldValues& values)
      : rules_(rules), frame_(frame), l2_(l2), values_(values) {}

  void Read(std::span<const HeaderField> fields) {
    for (const HeaderField& field : fields) {
      const uint32_t base = BaseOf(field);
      const bool reaches = l2_ != 0 || field.base == FieldBase::kFrame;
      if (reaches && base + (field.at + field.bits + 7) / 8 <= frame_.size()) {
        if (!ReadField(field, frame_.data() + base)) return;
      } else if (field.use != FieldUse::kValue || field.base == FieldBase::kInner) {
        return;
      }
    }
  }

 private:
  uint32_t BaseOf(const HeaderField& field) const {
    if (field.base == FieldBase::kFrame || l2_ == 0) return 0;
    return field.base == FieldBase::kType ? l2_ - 2 : l2_;
  }

  // Returns false if reading must stop at this field.
  bool ReadField(const HeaderField& field, const uint8_t* base) {
    if (field.use == FieldUse::kNeeded) return true;
    const NetAddress value = LoadBits(base, field.at, field.bits);
    switch (field.use) {
      case FieldUse::kValue:
        SetRead(field, Unbiased(field, value), field.usual, values_);
        return true;
      case FieldUse::kConst:
        if (value.low == field.usual) return true;
        if (field.key != FieldKey::kNone) values_.Set(field.key, value);
        return false;
      case FieldUse::kRuled:
        if (value.low == RuledValue(rules_, field.key)) return true;
        Read(field.otherwise);
        return false;
      case FieldUse::kComputed:
        SetRead(field, value, field.compute(base), values_);
        return true;
      case FieldUse::kOptional:
        SetRead(field, {.low = value.low != 0 ? 1u : 0u}, 0, values_);
        return true;
      case FieldUse::kNeeded:
      case FieldUse::kWritten:
        break;
    }
    return true;
  }

  const FrameRules& rules_;
  const std::span<const uint8_t> frame_;
  const uint32_t l2_;  // bytes of the Ethernet header and tag; 0: incomplete
  FieldValues& values_;
};

uint32_t EthernetBytesOf(Encap encap, std::span<const uint8_t> frame) {
  const auto bytes = static_cast<uint32_t>(frame.size());
  return TraitsOf(encap).can_be_tagged ? EthernetBytes(frame.data(), bytes) : kEthernetBytes;
}

void PatchValue(const HeaderField& field, const FieldValues& values, uint8_t* base) {
  if (field.use != FieldUse::kValue || !values.Has(field.key)) return;
  NetAddress value = *values[field.key];
  value.low += field.bias;
  StoreBits(base, field.at, field.bits, value);
}

void PatchComputed(const HeaderField& field, const FieldValues& values, uint8_t* inner) {
  if (field.use == FieldUse::kComputed) {
    const uint64_t value = values.Has(field.key) ? values[field.key]->low : field.compute(inner);
    StoreBits(inner, field.at, field.bits, {.low = value});
  } else if (field.use == FieldUse::kOptional && values.WordOr(field.key, 0) != 0) {
    StoreBits(inner, field.at, field.bits, {.low = field.compute(inner)});
  }
}

uint32_t BitsIn(std::span<const HeaderField> fields, FieldKey key) {
  for (const HeaderField& field : fields) {
    const bool is_value = field.use == FieldUse::kValue || field.use == FieldUse::kComputed ||
                          field.use == FieldUse::kOptional;
    if (is_value && field.key == key) return field.bits;
  }
  return 0;
}

}  // namespace

std::span<const HeaderField> FieldsOf(Encap encap) {
  switch (encap) {
#define SUEDE_ENCAP_FIELDS(id, ...) \
  case Encap::k##id:                \
    return FieldsOf##id();
    SUEDE_ENCAPS(SUEDE_ENCAP_FIELDS)
#undef SUEDE_ENCAP_FIELDS
  }
  return {};
}

std::span<const HeaderField> TagFields() { return kTag; }
std::span<const HeaderField> RhFields() { return kRh; }

uint32_t FieldBits(Encap encap, FieldKey key) {
  if (const uint32_t bits = BitsIn(FieldsOf(encap), key); bits != 0) return bits;
  const EncapTraits& traits = TraitsOf(encap);
  if (traits.can_be_tagged) {
    if (const uint32_t bits = BitsIn(kTag, key); bits != 0) return bits;
  }
  // A header that holds the RH has no room for the RH's reserved bits.
  if (traits.holds_rh && (key == FieldKey::kRsv || key == FieldKey::kRsvd)) return 0;
  return BitsIn(kRh, key);
}

void ReadHeader(const FrameRules& rules, std::span<const uint8_t> frame, FieldValues& values) {
  if (frame.size() < kEthernetBytes) return;
  const uint32_t l2 = EthernetBytesOf(rules.encap, frame);
  HeaderReader reader(rules, frame, l2, values);
  if (l2 > kEthernetBytes) reader.Read(kTag);
  reader.Read(FieldsOf(rules.encap));
}

void PatchHeader(Encap encap, const FieldValues& values, std::span<uint8_t> frame) {
  const uint32_t l2 = EthernetBytesOf(encap, frame);
  const std::span<const HeaderField> fields = FieldsOf(encap);
  const uint32_t bases[] = {0, l2 - 2, l2};  // by FieldBase
  if (l2 > kEthernetBytes) {
    for (const HeaderField& field : kTag) PatchValue(field, values, frame.data());
  }
  for (const HeaderField& field : fields) {
    PatchValue(field, values, frame.data() + bases[static_cast<size_t>(field.base)]);
  }
  for (size_t i = fields.size(); i-- > 0;) PatchComputed(fields[i], values, frame.data() + l2);
}

void ReadRh(const uint8_t* rh, FieldValues& values) {
  for (const HeaderField& field : kRh) {
    SetRead(field, LoadBits(rh, field.at, field.bits), field.usual, values);
  }
}

void PatchRh(const FieldValues& values, uint8_t* rh) {
  for (const HeaderField& field : kRh) PatchValue(field, values, rh);
}

NetAddress LoadBits(const uint8_t* base, uint32_t at, uint32_t bits) {
  if (bits > 64) return {.high = LoadBe64(base + at / 8), .low = LoadBe64(base + at / 8 + 8)};
  uint64_t value = 0;
  for (uint32_t bit = at; bit < at + bits; ++bit) {
    value = value << 1 | (base[bit / 8] >> (7 - bit % 8) & 1u);
  }
  return {.low = value};
}

void StoreBits(uint8_t* base, uint32_t at, uint32_t bits, const NetAddress& value) {
  if (bits > 64) {
    StoreBe64(base + at / 8, value.high);
    StoreBe64(base + at / 8 + 8, value.low);
    return;
  }
  for (uint32_t i = 0; i < bits; ++i) {
    const uint32_t bit = at + bits - 1 - i;
    const auto mask = static_cast<uint8_t>(0x80u >> bit % 8);
    const bool is_set = (value.low >> i & 1) != 0;
    base[bit / 8] = static_cast<uint8_t>(is_set ? base[bit / 8] | mask : base[bit / 8] & ~mask);
  }
}

}  // namespace suede
