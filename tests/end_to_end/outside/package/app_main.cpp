// SPDX-License-Identifier: Apache-2.0
// Begins as ESP-IDF does.
extern "C" void app_main();

int main() {
    app_main();
    return 0;
}
