// Layers for the host's processor that choose among boxes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>

#include "runtime/bmodel/host_layer_work.hpp"

namespace softtpu::bmodel::on_host {
namespace {

// Two opposite corners, the smaller numbers first.
struct Box {
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  float area() const { return (x2 - x1) * (y2 - y1); }
};

Box of_corners(float a, float b, float c, float d) {
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}
Box of_center(float x, float y, float w, float h) { return {x - w / 2, y - h / 2, x + w / 2, y + h / 2}; }

// The common area by that of both together; 0 for a box without area.
float overlap(const Box& a, const Box& b) {
  if (!(a.area() > 0) || !(b.area() > 0)) return 0;
  const float w = std::max(0.0F, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const float h = std::max(0.0F, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  return w * h / (a.area() + b.area() - w * h);
}

// The places of those with `good`, by falling score; equal ones as they stand.
template <class Score, class Good>
std::vector<std::uint64_t> by_score(std::uint64_t count, Score score, Good good) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (good(i)) all.push_back(i);
  }
  std::stable_sort(all.begin(), all.end(), [&](std::uint64_t a, std::uint64_t b) { return score(a) > score(b); });
  return all;
}

// Of the places in order those that overlap none before them by more than the threshold, `most` at most.
template <class BoxOf>
std::vector<std::uint64_t> suppress(const std::vector<std::uint64_t>& order, BoxOf box, float threshold,
                                    std::uint64_t most) {
  std::vector<std::uint64_t> kept;
  for (const std::uint64_t one : order) {
    if (kept.size() >= most) break;
    if (std::none_of(kept.begin(), kept.end(),
                     [&](std::uint64_t other) { return overlap(box(one), box(other)) > threshold; }))
      kept.push_back(one);
  }
  return kept;
}

// Boxes [n, 4] with scores of as many.
Result<std::uint64_t> boxes_of(const Values& boxes, const Values& scores) {
  const std::uint64_t count = boxes.data.size() / 4;
  if (boxes.shape.empty() || boxes.shape.back() != 4 || scores.data.size() != count)
    return wrong(
        fmt::format("boxes [{}] with scores [{}]", fmt::join(boxes.shape, ", "), fmt::join(scores.shape, ", ")));
  return count;
}

Box corners_at(const Values& boxes, std::uint64_t i) {
  return of_corners(boxes.real(i * 4), boxes.real(i * 4 + 1), boxes.real(i * 4 + 2), boxes.real(i * 4 + 3));
}

Values as_values(const std::vector<std::uint64_t>& places) {
  Values made{{places.size()}, {}, true};
  made.data.assign(places.begin(), places.end());
  return made;
}

}  // namespace

Made nms_of_onnx(const Work& work) {
  const Values& boxes = work.inputs[0];
  const Values& scores = work.inputs[1];
  if (boxes.shape.size() != 3 || scores.shape.size() != 3 || boxes.shape[2] != 4 || boxes.shape[0] != scores.shape[0] ||
      boxes.shape[1] != scores.shape[2])
    return wrong(
        fmt::format("boxes [{}] with scores [{}]", fmt::join(boxes.shape, ", "), fmt::join(scores.shape, ", ")));
  const bool centers = work.record.whole(0) != 0;
  double most = work.record.whole(4);
  float threshold = 0;
  float least = -std::numeric_limits<float>::infinity();
  if (work.inputs.size() > 2) {
    for (std::size_t i = 2; i < work.inputs.size(); ++i) {
      if (work.inputs[i].data.size() != 1) return wrong(fmt::format("input {} is not one number", i));
    }
    most = work.inputs[2].data[0];
    threshold = work.inputs[3].real(0);
    least = work.inputs[4].real(0);
  }
  const auto count = whole_number(most);
  if (!count || *count < 0) return wrong(fmt::format("{} boxes for each class", most));
  Values made{{0, 3}, {}, true};
  for (std::uint64_t image = 0; image < boxes.shape[0]; ++image) {
    const auto box = [&](std::uint64_t i) {
      const std::uint64_t at = (image * boxes.shape[1] + i) * 4;
      return centers ? of_center(boxes.real(at), boxes.real(at + 1), boxes.real(at + 2), boxes.real(at + 3))
                     : corners_at(boxes, image * boxes.shape[1] + i);
    };
    for (std::uint64_t kind = 0; kind < scores.shape[1]; ++kind) {
      const auto score = [&](std::uint64_t i) {
        return scores.real((image * scores.shape[1] + kind) * scores.shape[2] + i);
      };
      const auto order = by_score(boxes.shape[1], score, [&](std::uint64_t i) { return score(i) > least; });
      for (const std::uint64_t one : suppress(order, box, threshold, static_cast<std::uint64_t>(*count)))
        made.data.insert(made.data.end(),
                         {static_cast<double>(image), static_cast<double>(kind), static_cast<double>(one)});
    }
  }
  made.shape[0] = made.data.size() / 3;
  return std::vector{std::move(made)};
}

Made nms_of_tensorflow(const Work& work) {
  const Values& boxes = work.inputs[0];
  const auto count = boxes_of(boxes, work.inputs[1]);
  if (!count) return count.error();
  const std::int32_t most = work.record.whole(8);
  if (most < 0) return wrong(fmt::format("{} boxes at most", most));
  const auto score = [&](std::uint64_t i) { return work.inputs[1].real(i); };
  const auto order = by_score(*count, score, [&](std::uint64_t i) { return score(i) > work.record.real(4); });
  const auto box = [&](std::uint64_t i) { return corners_at(boxes, i); };
  return std::vector{as_values(suppress(order, box, work.record.real(0), static_cast<std::uint64_t>(most)))};
}

// With a sigma, scores fall with the overlap instead of going at once.
Made nms_v5_of_tensorflow(const Work& work) {
  const Values& boxes = work.inputs[0];
  const Values& scores = work.inputs[1];
  const auto count = boxes_of(boxes, scores);
  if (!count) return count.error();
  const float threshold = work.record.real(0);
  const float least = work.record.real(4);
  const float sigma = work.record.real(8);
  const std::int32_t most = work.record.whole(16);
  if (most < 0 || !(sigma >= 0)) return wrong(fmt::format("{} boxes at most, sigma {}", most, sigma));
  struct Candidate {
    float score = 0;
    std::uint64_t place = 0;
    std::size_t seen = 0;  // chosen ones that its score has fallen for
    bool operator<(const Candidate& other) const {
      return score < other.score || (score == other.score && place > other.place);
    }
  };
  std::priority_queue<Candidate> candidates;
  for (std::uint64_t i = 0; i < *count; ++i) {
    if (scores.real(i) > least) candidates.push({scores.real(i), i, 0});
  }
  std::vector<std::uint64_t> chosen;
  std::vector<double> values;
  while (chosen.size() < static_cast<std::size_t>(most) && !candidates.empty()) {
    Candidate one = candidates.top();
    candidates.pop();
    const float before = one.score;
    bool gone = false;
    for (std::size_t i = chosen.size(); i-- > one.seen && !gone;) {
      const float common = overlap(corners_at(boxes, one.place), corners_at(boxes, chosen[i]));
      if (common > threshold)
        gone = true;
      else if (sigma > 0)
        one.score *= std::exp(-0.5F / sigma * common * common);
      gone = gone || !(one.score > least);
    }
    if (gone) continue;
    one.seen = chosen.size();
    if (one.score == before) {
      chosen.push_back(one.place);
      values.push_back(one.score);
    } else {
      candidates.push(one);
    }
  }
  const auto found = static_cast<double>(chosen.size());
  if (work.record.flag(12)) {
    chosen.resize(static_cast<std::size_t>(most));
    values.resize(static_cast<std::size_t>(most));
  }
  Values list{{values.size()}, std::move(values), false};
  return std::vector{as_values(chosen), std::move(list), Values{{1}, {found}, true}};
}

Made box_nms(const Work& work) {
  const Values& from = work.inputs[0];
  if (from.shape.size() < 2) return wrong("boxes of one dimension");
  const float threshold = work.record.real(0);
  const float least = work.record.real(4);
  const std::int32_t most = work.record.whole(8);
  const std::int32_t first = work.record.whole(12);
  const std::int32_t score_at = work.record.whole(16);
  const std::int32_t id_at = work.record.whole(20);
  const std::int32_t background = work.record.whole(24);
  const bool any_class = work.record.whole(28) != 0 || id_at < 0;
  const bool centers_in = work.record.whole(32) != 0;
  const bool centers_out = work.record.whole(36) != 0;
  const std::uint64_t width = from.shape.back();
  const std::uint64_t rows = from.shape[from.shape.size() - 2];
  const auto outside = [&](std::int64_t at) { return at < 0 || at >= static_cast<std::int64_t>(width); };
  if (outside(first) || outside(std::int64_t{first} + 3) || outside(score_at) || (id_at >= 0 && outside(id_at)))
    return wrong(
        fmt::format("coordinates at {}, scores at {}, classes at {} of {} numbers", first, score_at, id_at, width));
  Values made = values_of(from.shape, -1);
  for (std::uint64_t batch = 0; width * rows > 0 && batch < from.data.size() / (width * rows); ++batch) {
    const auto value = [&](std::uint64_t row, std::int32_t at) {
      return from.real((batch * rows + row) * width + static_cast<std::uint64_t>(at));
    };
    const auto box = [&](std::uint64_t row) {
      const std::array<float, 4> at{value(row, first), value(row, first + 1), value(row, first + 2),
                                    value(row, first + 3)};
      return centers_in ? of_center(at[0], at[1], at[2], at[3]) : Box{at[0], at[1], at[2], at[3]};
    };
    auto order = by_score(
        rows, [&](std::uint64_t row) { return value(row, score_at); },
        [&](std::uint64_t row) {
          const bool is_background =
              id_at >= 0 && background >= 0 && value(row, id_at) == static_cast<float>(background);
          return value(row, score_at) > least && !is_background;
        });
    if (most >= 0 && order.size() > static_cast<std::size_t>(most)) order.resize(static_cast<std::size_t>(most));
    std::vector<std::uint64_t> kept;
    for (const std::uint64_t one : order) {
      const auto hides = [&](std::uint64_t other) {
        return (any_class || value(one, id_at) == value(other, id_at)) && overlap(box(one), box(other)) > threshold;
      };
      if (std::none_of(kept.begin(), kept.end(), hides)) kept.push_back(one);
    }
    for (std::uint64_t i = 0; i < kept.size(); ++i) {
      double* const to = made.data.data() + (batch * rows + i) * width;
      std::copy_n(from.data.data() + (batch * rows + kept[i]) * width, width, to);
      if (centers_in == centers_out) continue;
      const Box at = box(kept[i]);
      const auto coordinates = centers_out
                                   ? std::array{(at.x1 + at.x2) / 2, (at.y1 + at.y2) / 2, at.x2 - at.x1, at.y2 - at.y1}
                                   : std::array{at.x1, at.y1, at.x2, at.y2};
      std::copy(coordinates.begin(), coordinates.end(), to + first);
    }
  }
  return std::vector{std::move(made)};
}

namespace {

struct Ssd {
  std::uint64_t classes = 0, priors = 0;
  bool shared = false, encoded = false;
  std::int32_t background = 0, code = 0;

  // A box of the network's numbers and a prior's, which Caffe calls its location and variances.
  Box decode(const Values& locations, std::uint64_t at, const Values& prior, std::uint64_t i) const {
    const Box p{prior.real(i * 4), prior.real(i * 4 + 1), prior.real(i * 4 + 2), prior.real(i * 4 + 3)};
    float given[4];
    for (std::size_t k = 0; k < 4; ++k)
      given[k] = (encoded ? 1 : prior.real(priors * 4 + i * 4 + k)) * locations.real(at + k);
    const float w = p.x2 - p.x1;
    const float h = p.y2 - p.y1;
    if (code == 1) return {p.x1 + given[0], p.y1 + given[1], p.x2 + given[2], p.y2 + given[3]};
    if (code == 3) return {p.x1 + given[0] * w, p.y1 + given[1] * h, p.x2 + given[2] * w, p.y2 + given[3] * h};
    return of_center((p.x1 + p.x2) / 2 + given[0] * w, (p.y1 + p.y2) / 2 + given[1] * h, std::exp(given[2]) * w,
                     std::exp(given[3]) * h);
  }
};

}  // namespace

Made ssd_detections(const Work& work) {
  const Record& record = work.record;
  const Values& locations = work.inputs[0];
  const Values& confidences = work.inputs[1];
  const Values& prior = work.inputs[2];
  if (record.whole(0) < 1) return wrong(fmt::format("{} classes", record.whole(0)));
  Ssd ssd;
  ssd.classes = static_cast<std::uint64_t>(record.whole(0));
  ssd.shared = record.flag(4);
  ssd.background = record.whole(8);
  ssd.code = record.whole(20);
  ssd.encoded = record.flag(40);
  const std::uint64_t per_prior = ssd.encoded ? 4 : 8;
  ssd.priors = prior.data.size() / per_prior;
  const std::uint64_t images = locations.extent(0);
  const std::uint64_t sets = ssd.shared ? 1 : ssd.classes;
  if (ssd.priors == 0 || locations.data.size() != images * ssd.priors * sets * 4 ||
      confidences.data.size() != images * ssd.priors * ssd.classes)
    return wrong(fmt::format("locations [{}], confidences [{}], priors [{}] for {} classes",
                             fmt::join(locations.shape, ", "), fmt::join(confidences.shape, ", "),
                             fmt::join(prior.shape, ", "), ssd.classes));
  const std::int32_t most_before = record.whole(16);
  const std::int32_t most_behind = record.whole(24);
  const float eta = record.real(44);
  struct Found {
    std::uint64_t kind = 0, place = 0;
    float score = 0;
    Box box;
  };
  Values made{{1, 1, 0, 7}, {}, false};
  for (std::uint64_t image = 0; image < images; ++image) {
    std::vector<Found> all;
    for (std::uint64_t kind = 0; kind < ssd.classes; ++kind) {
      if (static_cast<std::int64_t>(kind) == ssd.background) continue;
      const auto score = [&](std::uint64_t i) {
        return confidences.real((image * ssd.priors + i) * ssd.classes + kind);
      };
      const auto box = [&](std::uint64_t i) {
        const std::uint64_t at = ((image * ssd.priors + i) * sets + (ssd.shared ? 0 : kind)) * 4;
        return ssd.decode(locations, at, prior, i);
      };
      auto order = by_score(ssd.priors, score, [&](std::uint64_t i) { return score(i) > record.real(28); });
      if (most_before >= 0 && order.size() > static_cast<std::size_t>(most_before))
        order.resize(static_cast<std::size_t>(most_before));
      float threshold = record.real(12);
      std::vector<Found> kept;
      for (const std::uint64_t one : order) {
        const Box here = box(one);
        if (std::any_of(kept.begin(), kept.end(),
                        [&](const Found& other) { return overlap(here, other.box) > threshold; }))
          continue;
        kept.push_back({kind, one, score(one), here});
        if (eta < 1 && threshold > 0.5F) threshold *= eta;
      }
      all.insert(all.end(), kept.begin(), kept.end());
    }
    if (most_behind >= 0 && all.size() > static_cast<std::size_t>(most_behind)) {
      std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
      all.resize(static_cast<std::size_t>(most_behind));
      std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.kind < b.kind; });
    }
    for (const Found& one : all)
      made.data.insert(made.data.end(), {static_cast<double>(image), static_cast<double>(one.kind), one.score,
                                         one.box.x1, one.box.y1, one.box.x2, one.box.y2});
  }
  // Without any, a row for each image says so.
  if (made.data.empty()) {
    for (std::uint64_t image = 0; image < images; ++image)
      made.data.insert(made.data.end(), {static_cast<double>(image), -1, -1, -1, -1, -1, -1});
  }
  made.shape[2] = made.data.size() / 7;
  return std::vector{std::move(made)};
}

}  // namespace softtpu::bmodel::on_host
