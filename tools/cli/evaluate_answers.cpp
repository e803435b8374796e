// SPDX-License-Identifier: Apache-2.0
// Answers to questions: exact match and F1.
#include "evaluations.hpp"
#include "failure.hpp"
#include "model.hpp"
#include "output.hpp"
#include "questions_file.hpp"
#include "score_tables.hpp"
#include "squad_scores.hpp"

namespace etch::cli {

void evaluate_answers(const Options& options) {
    const std::vector<AskedQuestion> questions = read_questions(options);
    double exact = 0.0;
    double f1 = 0.0;
    std::uint64_t windows = 0;
    std::uint64_t cut = 0;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const AskedQuestion& asked = questions[i];
        Answer answer = {};
        if (const Status status = answer_text({asked.question, asked.context, true}, answer); status != Status::ok) {
            fail(kRunFailure, "%s: question %zu: %s", quoted(options.table).c_str(), i + 1, describe(status));
        }
        std::string_view text;
        if (answer.answer_count != 0) {
            const AnswerSpan& best = answer.answers[0];
            text = std::string_view(asked.context).substr(best.begin, best.end - best.begin);
        }
        const AnswerMeasures measures = measure_answer(text, asked.answers);
        exact += measures.exact;
        f1 += measures.f1;
        windows += answer.windows;
        cut += answer.truncated ? 1U : 0U;
    }
    const auto count = static_cast<double>(questions.size());
    write_output(percent_line("exact match", exact / count));
    write_output(percent_line("F1", f1 / count));
    write_output(format("questions: %zu, windows: %llu, questions cut: %llu\n", questions.size(),
                        static_cast<unsigned long long>(windows), static_cast<unsigned long long>(cut)));
}

}  // namespace etch::cli
