// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "output.hpp"
#include "text/utf16.hpp"

namespace etch::cli {
namespace {

constexpr std::size_t kChunk = 64 * 1024;
#if defined(_WIN32)
constexpr int kForReading = O_RDONLY | O_BINARY | O_NOINHERIT;
#else
constexpr int kForReading = O_RDONLY | O_CLOEXEC;
#endif

void check_encoding(std::string_view begin, const InputFile& file) {
    if (is_utf16(begin)) {
        fail(kRunFailure, "%s is UTF-16 or UTF-32: convert it to UTF-8", file.name().c_str());
    }
}

void check_opened(bool opened, const std::string& name) {
    if (!opened) {
        fail(kWrongUse, "cannot open %s: %s", name.c_str(), std::strerror(errno));
    }
}

std::size_t byte_order_mark_length(std::string_view begin) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    return begin.substr(0, kByteOrderMark.size()) == kByteOrderMark ? kByteOrderMark.size() : 0;
}

}  // namespace

InputFile::InputFile(std::string_view path) {
    struct stat about = {};
    if (path == "-") {
        check_opened(fstat(descriptor_, &about) == 0, name_);
    } else {
        name_ = quoted(path);
        const std::string file(path);
        check_opened(stat(file.c_str(), &about) == 0, name_);
        if (!S_ISDIR(about.st_mode)) {
            descriptor_ = open(file.c_str(), kForReading);
            check_opened(descriptor_ >= 0, name_);
        }
    }
    if (S_ISDIR(about.st_mode)) {
        fail(kWrongUse, "cannot read %s: it is a folder", name_.c_str());
    }
    regular_ = S_ISREG(about.st_mode);
}

InputFile::~InputFile() {
    if (descriptor_ != 0) {
        close(descriptor_);
    }
}

std::size_t InputFile::read(char* bytes, std::size_t size) {
    while (true) {
        const ssize_t count = ::read(descriptor_, bytes, static_cast<unsigned>(size));  // as Windows wants it
        if (count >= 0) {
            return static_cast<std::size_t>(count);
        }
        if (errno != EINTR) {
            fail(kRunFailure, "cannot read %s: %s", name_.c_str(), std::strerror(errno));
        }
    }
}

bool InputFile::is_terminal() const {
    return isatty(descriptor_) != 0;
}

bool LineReader::fill() {
    if (ended_) {
        return false;
    }
    buffer_.erase(0, begin_);
    begin_ = 0;
    if (!file_.is_regular()) {
        flush_output();
    }
    const std::size_t used = buffer_.size();
    buffer_.resize(used + kChunk);
    const std::size_t count = file_.read(buffer_.data() + used, kChunk);
    buffer_.resize(used + count);
    ended_ = count == 0;
    return !ended_;
}

bool LineReader::next(std::string_view& line) {
    std::size_t searched = begin_;
    std::size_t end = 0;
    while ((end = buffer_.find('\n', searched)) == std::string::npos) {
        searched = buffer_.size() - begin_;  // fill() moves the line to the front
        if (searched > kMostLineBytes) {
            fail(kRunFailure, "%s: line %zu is longer than %zu bytes", file_.name().c_str(), line_number_ + 1,
                 kMostLineBytes);
        }
        if (!fill()) {
            if (begin_ == buffer_.size()) {
                return false;
            }
            end = buffer_.size();
            break;
        }
    }
    if (line_number_ == 0) {
        check_encoding(buffer_, file_);
        begin_ = byte_order_mark_length(buffer_);
        if (begin_ == buffer_.size()) {
            return false;
        }
    }
    line = std::string_view(buffer_).substr(begin_, end - begin_);
    begin_ = end < buffer_.size() ? end + 1 : end;
    ++line_number_;
    return true;
}

std::string read_file(std::string_view path) {
    InputFile file(path);
    std::string bytes;
    std::size_t used = 0;
    do {
        used = bytes.size();
        bytes.resize(used + kChunk);
        bytes.resize(used + file.read(bytes.data() + used, kChunk));
        if (bytes.size() > kMostFileBytes) {
            fail(kRunFailure, "%s has more than %zu bytes, the most that is read", file.name().c_str(), kMostFileBytes);
        }
    } while (bytes.size() > used);
    check_encoding(bytes, file);
    bytes.erase(0, byte_order_mark_length(bytes));
    return bytes;
}

}  // namespace etch::cli
