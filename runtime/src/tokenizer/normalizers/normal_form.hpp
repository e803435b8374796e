// SPDX-License-Identifier: Apache-2.0
// Unicode's normal forms (Unicode Standard Annex 15) as streams: decomposed, put in canonical order, composed.
//
// Runs of marks may be of any length and nothing is stored: what order needs to know of a run is read again.
#pragma once

#include <cstdint>

#include "../cursor.hpp"
#include "../unicode/unicode.hpp"
#include "../unicode/utf8.hpp"
#include "etch/tokenizer/normalizers.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// A character of a decomposed text.
struct Element {
    std::uint32_t scalar;
    std::uint32_t entry;  // of NormalForm::entries
    bool is_more;         // not the first one of what the original's character becomes

    std::uint32_t rank() const noexcept { return entry & NormalForm::kRankMask; }
};

inline std::uint32_t entry_of(const NormalForm& form, std::uint32_t scalar) noexcept {
    const std::uint32_t middle = form.top[scalar >> 8] * 16U + (scalar >> 4 & 15);
    return form.entries[form.leaves[form.middle[middle] * 16U + (scalar & 15)]];
}

// What two characters compose to; 0 if they do not.
std::uint32_t compose(const NormalForm& form, std::uint32_t first, const Element& second) noexcept;

// The characters of a `Source`, which can be copied to look ahead, decomposed:
//     bool next(Unit&), void seek(std::uint32_t), bool may_seek() const, std::uint32_t position() const
template <class Source>
class DecomposeStage {
  public:
    DecomposeStage(const NormalForm& form, const Source& source) noexcept : form_(&form), source_(source) {}

    bool next(Element& element) noexcept {
        const bool is_more = text_ != nullptr || given_ < syllable_.count;
        if (!is_more && !read(element)) return false;
        if (text_ != nullptr) {
            const Decoded decoded = decode_known(text_);
            text_ += decoded.size;
            if (*text_ == 0) text_ = nullptr;
            element = {decoded.scalar, entry_of(*form_, decoded.scalar), is_more};
        } else if (given_ < syllable_.count) {
            const std::uint32_t scalar = syllable_.scalar[given_++];
            element = {scalar, entry_of(*form_, scalar), is_more};
        }
        return true;
    }

    void seek(std::uint32_t position) noexcept {
        source_.seek(position);
        text_ = nullptr;
        given_ = syllable_.count;
    }

  private:
    // The next character of the source: it stays, or its parts are to come.
    bool read(Element& element) noexcept {
        Unit unit;
        if (!source_.next(unit)) return false;
        if (is_hangul_syllable(unit.scalar)) {
            syllable_ = hangul_parts(unit.scalar);
            given_ = 0;
            return true;
        }
        element = {unit.scalar, entry_of(*form_, unit.scalar), false};
        const std::uint32_t at = element.entry >> NormalForm::kTextShift;
        if (at != 0) text_ = form_->texts + at;
        return true;
    }

    const NormalForm* form_;
    Source source_;
    const std::uint8_t* text_ = nullptr;  // what is left of what a character becomes
    Parts syllable_{};
    std::uint32_t given_ = 0;  // of its parts
};

// Marks between two starters in the order of their ranks, those of one rank in the order of the text.
template <class Source>
class OrderStage {
  public:
    explicit OrderStage(const Source& source) noexcept : source_(source), run_(source), scan_(source) {}

    bool next(Element& element) noexcept {
        if (left_ == 0) {
            if (!source_.next(element)) return false;
            if (element.rank() == 0) return true;
            first_ = element;
            begin_run();
        }
        if (is_ordered_) {
            if (left_ == size_) {
                element = first_;
            } else {
                source_.next(element);
            }
            --left_;
            return true;
        }
        do {
            if (scanned_ == size_) begin_rank();
            scan(element);
        } while (element.rank() != rank_);
        if (--left_ == 0) {
            while (scanned_ < size_) {
                Element passed;
                scan(passed);
            }
            source_ = scan_;
        }
        return true;
    }

    void seek(std::uint32_t position) noexcept {
        source_.seek(position);
        left_ = 0;
    }

  private:
    // Looks once at a run, of which the first mark has been read.
    void begin_run() noexcept {
        Source ahead = source_;
        Element element{};
        std::uint32_t last = first_.rank();
        is_ordered_ = true;
        ranks_ = std::uint64_t{1} << last;
        size_ = 1;
        for (; ahead.next(element) && element.rank() != 0; ++size_) {
            ranks_ |= std::uint64_t{1} << element.rank();
            is_ordered_ = is_ordered_ && element.rank() >= last;
            last = element.rank();
        }
        left_ = size_;
        run_ = source_;
        rank_ = 0;
        scanned_ = size_;
    }

    // Goes on to the next rank that marks of the run have.
    void begin_rank() noexcept {
        do
            ++rank_;
        while ((ranks_ >> rank_ & 1) == 0);
        scan_ = run_;
        scanned_ = 0;
    }

    void scan(Element& element) noexcept {
        if (scanned_ == 0) {
            element = first_;
        } else {
            scan_.next(element);
        }
        ++scanned_;
    }

    Source source_;
    Source run_;               // behind the first mark of the run
    Source scan_;              // reads it
    std::uint64_t ranks_ = 0;  // in the run, a bit each
    Element first_{};          // of the run
    std::uint32_t size_ = 0;   // of the run
    std::uint32_t left_ = 0;   // of its marks, to be given
    std::uint32_t scanned_ = 0;
    std::uint32_t rank_ = 0;  // of the marks now coming out
    bool is_ordered_ = true;  // the run
};

// A character of a normal form: `used` is how many of the original's it takes the place of.
struct Composed {
    std::uint32_t scalar;
    std::uint32_t used;
};

// Each starter with the marks behind it that it composes with. A form that is decomposed passes as it is.
template <class Source>
class ComposeStage {
  public:
    ComposeStage(const NormalForm& form, const Source& source) noexcept : form_(&form), source_(source) {}

    bool next(Composed& composed) noexcept {
        if (has_mark_) {  // the first one that did not compose
            has_mark_ = false;
            composed = alone(mark_);
            return true;
        }
        while (behind_ != 0) {
            Element element;
            source_.next(element);
            --behind_;
            if (absorbs(element)) continue;
            composed = alone(element);
            return true;
        }
        if (has_starter_) {
            has_starter_ = false;
        } else if (!source_.next(starter_)) {
            return false;
        }
        composed = alone(starter_);
        if (!form_->composes || starter_.rank() != 0) return true;
        starter_scalar_ = starter_.scalar;
        last_rank_ = 0;
        Element element;
        while (source_.next(element)) {
            if (absorbs(element)) {
                composed.used += alone(element).used;
                continue;
            }
            if (element.rank() == 0) {
                starter_ = element;
                has_starter_ = true;
            } else {
                mark_ = element;
                has_mark_ = true;
                look_behind_mark(composed);
            }
            break;
        }
        composed.scalar = has_mark_ ? composed.scalar : starter_scalar_;
        return true;
    }

    // Whether what has been read ahead begins with a character of the original, and is all of the present.
    bool may_seek() const noexcept { return !has_mark_ && behind_ == 0 && has_starter_ && !starter_.is_more; }
    // A stage behind this one, which has what it read ahead, may seek when this one may not.
    void seek(std::uint32_t position) noexcept {
        source_.seek(position);
        behind_ = 0;
        has_starter_ = has_mark_ = false;
    }

  private:
    static Composed alone(const Element& element) noexcept { return {element.scalar, element.is_more ? 0U : 1U}; }

    // Composes the starter with an element behind it, if it is not blocked by one of the same rank before that.
    bool absorbs(const Element& element) noexcept {
        const bool is_blocked = last_rank_ != 0 && last_rank_ >= element.rank();
        const std::uint32_t composed = is_blocked ? 0 : compose(*form_, starter_scalar_, element);
        if (composed != 0) {
            starter_scalar_ = composed;
        } else {
            last_rank_ = element.rank();
        }
        return composed != 0;
    }

    // Finds out what the starter becomes when marks behind one that does not compose do; they are read again.
    void look_behind_mark(Composed& composed) noexcept {
        Source ahead = source_;
        const std::uint32_t scalar = starter_scalar_;
        const std::uint32_t rank = last_rank_;
        Element element;
        while (ahead.next(element)) {
            const bool absorbed = absorbs(element);
            if (!absorbed && element.rank() == 0) break;
            if (absorbed) composed.used += alone(element).used;
            ++behind_;
        }
        composed.scalar = starter_scalar_;
        starter_scalar_ = scalar;
        last_rank_ = rank;
    }

    const NormalForm* form_;
    Source source_;
    Element starter_{};  // read, but not given out, if has_starter_
    Element mark_{};
    std::uint32_t starter_scalar_ = 0;  // what it has become
    std::uint32_t last_rank_ = 0;       // of the marks behind it that did not compose
    std::uint32_t behind_ = 0;          // elements to read again: those that compose are in what was given out
    bool has_starter_ = false;
    bool has_mark_ = false;
};

// A normal form of the characters of a `Source`. The wheel counts characters: one of the normal form has the place of
// the next one of the original, or of the last one counted if it is more than there were; where it stands for several
// of them, it has the first one's place. Without tables all characters stay.
template <class Source>
class NormalFormStage {
  public:
    NormalFormStage(const NormalForm& form, const Source& source) noexcept
        : stages_(form, Ordered(Decomposed(form, source))), places_(source), has_form_(form.top != nullptr) {}

    bool next(Unit& unit) noexcept {
        if (!has_form_) return places_.next(unit);
        Composed composed;
        if (!stages_.next(composed)) return false;
        if (composed.used != 0) {
            places_.next(last_);
            unit = last_;
            for (std::uint32_t i = 1; i < composed.used; ++i)
                places_.next(last_);
        } else {
            unit = last_;
        }
        unit.scalar = composed.scalar;
        return true;
    }

    bool may_seek() const noexcept { return places_.may_seek() && (!has_form_ || stages_.may_seek()); }
    std::uint32_t position() const noexcept { return places_.position(); }
    void seek(std::uint32_t position) noexcept {
        stages_.seek(position);
        places_.seek(position);
    }

  private:
    using Decomposed = DecomposeStage<Source>;
    using Ordered = OrderStage<Decomposed>;

    ComposeStage<Ordered> stages_;
    Source places_;
    bool has_form_;
    Unit last_{};  // counted
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
