// SPDX-License-Identifier: Apache-2.0
#include "lab_curves.h"

#include <algorithm>
#include <cmath>

namespace suede::lab {
namespace {

double SecondsOf(Time time) { return static_cast<double>(ToNs(time)) / 1e9; }

}  // namespace

void Curves::BeginPoint(Time now) {
  times_.push_back(now);
  for (auto& [key, curve] : curves_) {
    curve.values.push_back(curve.kind == Kind::kGrowth ? curve.values.back() : 0);
  }
}

void Curves::Set(const char* name, const char* unit, Kind kind, const Labels& labels,
                 double value) {
  const auto [at, is_new] = curves_.try_emplace({name, labels}, Curve{unit, kind, {}});
  if (is_new) at->second.values.resize(times_.size());
  at->second.values.back() = value;
}

// Point 0 stays: it is the begin of what grows.
bool Curves::Thin() {
  if (times_.size() < kMaxPoints) return false;
  const size_t count = times_.size();
  size_t to = 0;
  for (size_t from = 0; from < count; from += 2) times_[to++] = times_[from];
  times_.resize(to);
  for (auto& [key, curve] : curves_) {
    std::vector<double>& v = curve.values;
    for (size_t i = 0; i < to; ++i) {
      const bool larger = curve.kind == Kind::kLevel && i != 0;
      v[i] = larger ? std::max(v[2 * i - 1], v[2 * i]) : v[2 * i];
    }
    v.resize(to);
  }
  return true;
}

Json Curves::ToJson(const std::vector<std::string>& kept) const {
  Json list = Json::array();
  for (const auto& [key, curve] : curves_) {
    const auto& [name, labels] = key;
    std::vector<double> t;
    std::vector<double> v;
    for (size_t i = 0; i < times_.size(); ++i) {
      const double now = SecondsOf(times_[i]);
      if (curve.kind == Kind::kLevel) {
        t.push_back(now);
        v.push_back(curve.values[i]);
      } else if (i != 0 && times_[i] > times_[i - 1]) {
        t.push_back(now);
        v.push_back((curve.values[i] - curve.values[i - 1]) / (now - SecondsOf(times_[i - 1])));
      }
    }
    const bool flat = std::all_of(v.begin(), v.end(), [](double one) { return one == 0; });
    if (flat && std::find(kept.begin(), kept.end(), name) == kept.end()) continue;
    Json of = Json::object();
    for (const auto& [label, text] : labels) of[label] = text;
    list.push_back({{"name", name}, {"unit", curve.unit}, {"labels", of}, {"t", t}, {"v", v}});
  }
  return list;
}

}  // namespace suede::lab
