// SPDX-License-Identifier: Apache-2.0
#include "score_tables.hpp"

#include <algorithm>
#include <limits>

#include "../model.hpp"
#include "../text/format.hpp"
#include "../text/json.hpp"
#include "../text/utf8.hpp"
#include "correlation.hpp"

namespace etch::cli {
namespace {

constexpr std::size_t kLabelWidth = 16;      // code points
constexpr std::size_t kNumberWidth = 10;     // code points
constexpr std::uint32_t kMatrixLabels = 20;  // at most, in a matrix

std::string percent(std::optional<double> value) {
    return value ? format("%*.2f", static_cast<int>(kNumberWidth), 100 * *value)
                 : format("%*s", static_cast<int>(kNumberWidth), "-");
}

std::string count(std::uint64_t value) {
    return format("%*llu", static_cast<int>(kNumberWidth), static_cast<unsigned long long>(value));
}

std::optional<double> share(const ConfusionMatrix& confusion, std::uint32_t truth, std::uint32_t answer) {
    const std::uint64_t rows = confusion.rows_of(truth);
    return rows == 0 ? std::nullopt
                     : std::optional(static_cast<double>(confusion.count(truth, answer)) / static_cast<double>(rows));
}

template <class Cell>
std::string matrix(const ConfusionMatrix& confusion, const char* title, std::size_t width, Cell number) {
    std::string out = std::string("\n") + title + "\n" + std::string(kLabelWidth, ' ');
    for (std::uint32_t answer = 0; answer < confusion.labels(); ++answer) {
        // Cut to fit and set to the right, over the numbers.
        std::string name = cell(label(answer), width - 1);
        const std::size_t end = name.find_last_not_of(' ') + 1;
        out += std::string(name.size() - end + 1, ' ') + name.substr(0, end);
    }
    out += '\n';
    for (std::uint32_t truth = 0; truth < confusion.labels(); ++truth) {
        out += cell(label(truth), kLabelWidth);
        for (std::uint32_t answer = 0; answer < confusion.labels(); ++answer) {
            out += number(truth, answer);
        }
        out += '\n';
    }
    return out;
}

struct Confusion {
    std::uint64_t count;
    std::uint32_t truth;
    std::uint32_t answer;
};

std::string confusion_list(const ConfusionMatrix& confusion) {
    std::vector<Confusion> confusions;
    for (std::uint32_t truth = 0; truth < confusion.labels(); ++truth) {
        for (std::uint32_t answer = 0; answer < confusion.labels(); ++answer) {
            if (confusion.count(truth, answer) != 0) {
                confusions.push_back({confusion.count(truth, answer), truth, answer});
            }
        }
    }
    std::stable_sort(confusions.begin(), confusions.end(),
                     [](const Confusion& a, const Confusion& b) { return a.count > b.count; });
    std::string out = "\nconfusion: true label, answer, count, per cent of the true label\n";
    for (const Confusion& one : confusions) {
        out += cell(label(one.truth), kLabelWidth) + ' ' + cell(label(one.answer), kLabelWidth) + count(one.count) +
               percent(share(confusion, one.truth, one.answer)) + '\n';
    }
    return out;
}

// Rows of labels: the mean over those that have one.
std::string class_table(const std::vector<LabelMeasures>& labels, std::uint64_t rows) {
    std::string out = '\n' + cell("label, per cent", kLabelWidth) + " precision    recall        F1      rows\n";
    double sums[3] = {};
    std::uint32_t defined[3] = {};
    for (std::uint32_t i = 0; i < labels.size(); ++i) {
        out += cell(label(i), kLabelWidth);
        const std::optional<double> values[] = {labels[i].precision, labels[i].recall, labels[i].f1};
        for (std::size_t m = 0; m < 3; ++m) {
            out += percent(values[m]);
            sums[m] += values[m].value_or(0);
            defined[m] += values[m] ? 1U : 0U;
        }
        out += count(labels[i].rows) + '\n';
    }
    out += cell("mean", kLabelWidth);
    for (std::size_t m = 0; m < 3; ++m) {
        out += percent(defined[m] == 0 ? std::nullopt : std::optional(sums[m] / defined[m]));
    }
    return out + count(rows) + '\n';
}

std::string entity_table(const std::vector<std::string>& types, const std::vector<LabelMeasures>& measures) {
    std::string out = '\n' + cell("type, per cent", kLabelWidth) + " precision    recall        F1  entities\n";
    for (std::size_t i = 0; i < types.size(); ++i) {
        out += cell(types[i], kLabelWidth) + percent(measures[i].precision) + percent(measures[i].recall) +
               percent(measures[i].f1) + count(measures[i].rows) + '\n';
    }
    return out;
}

// Counts as [true label][answer].
template <class Cell>
std::string json_matrix(const ConfusionMatrix& confusion, Cell number) {
    std::string out;
    append_json_array(out, confusion.labels(), [&](std::uint32_t truth) {
        append_json_array(out, confusion.labels(), [&](std::uint32_t answer) { number(out, truth, answer); });
    });
    return out;
}

std::string json_counts(const ConfusionMatrix& confusion) {
    return json_matrix(confusion, [&](std::string& out, std::uint32_t truth, std::uint32_t answer) {
        append_json(out, static_cast<std::int64_t>(confusion.count(truth, answer)));
    });
}

void report_measures(ScoreReport& report, const LabelMeasures& measures) {
    report.field("precision", measures.precision);
    report.field("recall", measures.recall);
    report.field("f1", measures.f1);
}

}  // namespace

void report_correlation(ScoreReport& report, const std::vector<double>& truths, const std::vector<double>& answers) {
    report.number("Pearson", pearson(truths, answers));
    report.number("Spearman", spearman(truths, answers));
}

void report_labels(ScoreReport& report, const std::vector<LabelMeasures>& labels, std::uint64_t rows) {
    report.text(class_table(labels, rows));
    report.list("per_label", static_cast<std::uint32_t>(labels.size()), [&](std::uint32_t i) {
        report.field("label", label(i));
        report_measures(report, labels[i]);
        report.field("rows", labels[i].rows);
    });
}

void report_types(ScoreReport& report, const std::vector<std::string>& types,
                  const std::vector<LabelMeasures>& measures) {
    report.text(entity_table(types, measures));
    report.list("per_type", static_cast<std::uint32_t>(types.size()), [&](std::uint32_t i) {
        report.field("type", std::string_view(types[i]));
        report_measures(report, measures[i]);
        report.field("entities", measures[i].rows);
    });
}

void report_confusion(ScoreReport& report, const ConfusionMatrix& confusion) {
    report.raw("counts", json_counts(confusion));
    if (confusion.labels() > kMatrixLabels) {
        report.text(confusion_list(confusion));
        return;
    }
    report.text(
        matrix(confusion, "confusion matrix, counts (a row is a true label, a column an answer)", kNumberWidth,
               [&](std::uint32_t truth, std::uint32_t answer) { return count(confusion.count(truth, answer)); }));
    report.text(
        matrix(confusion, "confusion matrix, per cent of the true label", kNumberWidth,
               [&](std::uint32_t truth, std::uint32_t answer) { return percent(share(confusion, truth, answer)); }));
}

std::string confusion_matrix(const ConfusionMatrix& confusion) {
    if (confusion.labels() > kMatrixLabels) {
        return confusion_list(confusion);
    }
    constexpr std::size_t kCellWidth = kNumberWidth + sizeof " (100.00)" - 1;
    return matrix(confusion,
                  "confusion matrix, counts (per cent of the true label): a row is a true label, a column an answer",
                  kCellWidth, [&](std::uint32_t truth, std::uint32_t answer) {
                      const std::optional<double> part = share(confusion, truth, answer);
                      const std::string shown = part ? format("%.2f", 100 * *part) : "-";
                      return count(confusion.count(truth, answer)) +
                             std::string(sizeof "100.00" - 1 - shown.size(), ' ') + " (" + shown + ')';
                  });
}

std::string confusion_json(const ConfusionMatrix& confusion) {
    ScoreReport report(true);
    report.share("accuracy", confusion.accuracy());
    report.field("rows", confusion.rows());
    std::string labels;
    append_json_array(labels, confusion.labels(), [&](std::uint32_t i) { append_json(labels, label(i)); });
    report.raw("labels", labels);
    report.raw("counts", json_counts(confusion));
    report.raw("per_cent", json_matrix(confusion, [&](std::string& row, std::uint32_t truth, std::uint32_t answer) {
                   const std::optional<double> part = share(confusion, truth, answer);
                   append_json(row, part ? static_cast<float>(100 * *part) : std::numeric_limits<float>::quiet_NaN());
               }));
    return report.done();
}

}  // namespace etch::cli
