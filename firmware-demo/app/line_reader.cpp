// SPDX-License-Identifier: Apache-2.0
#include "line_reader.hpp"

#include "etch/tokenizer/utf8.hpp"

namespace firmware {

LineEvent LineReader::take(char byte) {
    const bool ends_return = byte == '\n' && after_return_;
    after_return_ = byte == '\r';
    if (ends_return) return LineEvent::none;
    if (byte == '\n' || byte == '\r') return end_line();
    if (received_ == 0) stored_ = 0;  // the line before is no longer looked at
    if (stored_ < kLineBytes) bytes_[stored_++] = byte;
    // Counts no further than it needs to know.
    if (received_ <= kLineBytes) ++received_;
    return LineEvent::none;
}

LineEvent LineReader::end_line() {
    const std::size_t received = received_;
    const bool lost = lost_;
    received_ = 0;
    lost_ = false;
    if (received == 0) stored_ = 0;
    if (lost) return LineEvent::overrun;
    if (received == 0) return LineEvent::empty;
    if (received > kLineBytes) return LineEvent::too_long;
    invalid_at_ = etch::tokenizer::well_formed_size(text());
    return invalid_at_ == received ? LineEvent::line : LineEvent::invalid_utf8;
}

}  // namespace firmware
