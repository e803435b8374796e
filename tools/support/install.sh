# SPDX-License-Identifier: Apache-2.0
# Sourced by the tools: finds out what is missing on a Debian machine and installs it, or says how.

say() {
    if [ -t 2 ]; then printf '\033[1m==> %s\033[0m\n' "$*" >&2; else printf '==> %s\n' "$*" >&2; fi
}

# usage: the comment at the head of the tool that runs.
usage() {
    sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"
}

# check_options ARGUMENT...: --help prints the usage and ends; an option that the usage does not name is wrong use. Comes
# before everything that installs, for neither needs what would be installed.
check_options() {
    local argument known
    known=" $(usage | tr -cs 'a-z0-9-' ' ')"
    for argument in "$@"; do
        case $argument in
            --) break ;;
            -h | --help) usage; exit 0 ;;
            -[0-9]*) wrong_use "$argument is no value: numbers are 0 or more" ;;
            -?*) [[ $known == *" ${argument%%=*} "* ]] || wrong_use "unknown option ${argument%%=*}" ;;
        esac
    done
}

# need_checkpoint ARGUMENT: a folder with a config.json, where it is not an option.
need_checkpoint() {
    [[ $1 == -* || -f $1/config.json ]] || wrong_use "'$1' is no checkpoint: a folder with config.json is needed"
}

# wrong_use MESSAGE: one line, exit code 2.
wrong_use() {
    echo "${0##*/}: $* (see tools/${0##*/} --help)" >&2
    exit 2
}

# need_packages PACKAGE...: installs those that are not there. Without root it prints the one line to run, and stops.
need_packages() {
    local missing=() package
    for package in "$@"; do
        if command -v dpkg-query >/dev/null; then
            [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == 'install ok installed'* ]] || missing+=("$package")
        elif [ "$package" = cmake ] || [ "$package" = make ] || [ "$package" = g++ ]; then
            command -v "$package" >/dev/null || missing+=("$package")
        fi
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "missing: ${missing[*]} (install them with this system's package manager)" >&2
        exit 3
    fi
    if [ "$(id -u)" != 0 ]; then
        echo "missing packages; run this, then start again:" >&2
        echo "sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
        exit 3
    fi
    say "installing ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        tail -n 15 "$log" >&2
        echo "installing packages failed" >&2
        exit 3
    fi
    rm -f "$log"
}

# need_compiler: a C++17 compiler, CMake and make, at least the floor versions that CMakeLists.txt checks.
need_compiler() {
    local wanted=()
    command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || wanted+=(g++)
    command -v cmake >/dev/null || wanted+=(cmake)
    command -v make >/dev/null || wanted+=(make)
    [ ${#wanted[@]} -eq 0 ] || need_packages "${wanted[@]}"
}

# need_fuzzer: clang with its sanitizers and libFuzzer.
need_fuzzer() {
    need_packages clang
    ! command -v dpkg-query >/dev/null || need_packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

# need_boards: cross compiler and emulator for Cortex-M.
need_boards() {
    need_packages gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm
}

# need_python REQUIREMENTS...: a private environment in .venv with exactly these packages; sets $PYTHON.
need_python() {
    local python
    python=$(command -v python3 || true)
    if [ -z "$python" ] || ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        need_packages python3 python3-venv
        python=$(command -v python3)
    fi
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
        echo "Python 3.10 or newer is needed, $python is $("$python" -V 2>&1)" >&2
        exit 3
    fi
    PYTHON=$ROOT/.venv/bin/python
    if ! "$PYTHON" -c '' 2>/dev/null; then
        say "making a private Python environment in .venv"
        rm -rf "$ROOT/.venv"
        "$python" -m venv "$ROOT/.venv" || return
    fi
    local file stamp
    for file in "$@"; do
        stamp=$ROOT/.venv/.installed-$(sha256sum "$ROOT/$file" | cut -c1-16)
        [ -e "$stamp" ] && continue
        say "installing Python packages of $file"
        pip_install "$PYTHON" "$ROOT/$file" || return  # where this is a condition, set -e is off
        touch "$stamp"
    done
}

# pip_install PYTHON LIST: exactly the wheels whose hashes are in the list (tools/support/lock.py writes them), and no
# source archive, which would run code of its own.
pip_install() {
    "$1" -m pip install -q --disable-pip-version-check --require-hashes --only-binary :all: --no-deps -r "$2"
}
