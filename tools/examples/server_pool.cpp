// SPDX-License-Identifier: Apache-2.0
// Threads of a server, each with a workspace of its own; the weights are shared. Requests come from standard input, a
// text a line; answers go out as they are ready: number of the request, TAB, label.
#include <agnews.hpp>
#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

struct Request {
    int number;
    std::string text;
};

static std::queue<Request> waiting;
static bool closed = false;
static std::mutex mutex;
static std::condition_variable changed;

static void serve() {
    const auto workspace = std::make_unique<etch::agnews::Workspace>();
    etch::agnews::Result result;
    for (std::unique_lock lock(mutex);;) {
        changed.wait(lock, [] { return closed || !waiting.empty(); });
        if (waiting.empty()) return;
        const Request request = std::move(waiting.front());
        waiting.pop();
        lock.unlock();
        const etch::Status status = etch::agnews::classify(*workspace, request.text, result);
        lock.lock();
        const char* answer =
            status == etch::Status::ok ? etch::agnews::kLabels[result.label].data() : etch::describe(status);
        std::printf("%d\t%s\n", request.number, answer);
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back(serve);
    std::string line;
    for (int number = 0; std::getline(std::cin, line); ++number) {
        const std::lock_guard lock(mutex);
        waiting.push({number, line});
        changed.notify_one();
    }
    {
        const std::lock_guard lock(mutex);
        closed = true;
    }
    changed.notify_all();
    for (std::thread& thread : threads)
        thread.join();
}
