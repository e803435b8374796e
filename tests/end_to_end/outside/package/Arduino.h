// SPDX-License-Identifier: Apache-2.0
// As much of Arduino as the example needs, and the main() of a sketch.
#pragma once
#include <cstdio>

struct SerialPort {
    void begin(long) {}
    void print(const char* text) { std::fputs(text, stdout); }
};
static SerialPort Serial;

void setup();
void loop();

int main() {
    setup();
    loop();
    return 0;
}
