// The harness of the native tests: TEST(name) { … CHECK(condition); … } in any file; main() in main.cpp runs them all.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace check {

struct Test {
    const char* name;
    void (*body)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

struct Register {
    Register(const char* name, void (*body)()) { tests().push_back({name, body}); }
};

inline void that(bool holds, const char* condition, const char* file, int line) {
    if (holds) return;
    std::ostringstream said;
    said << file << ":" << line << ": " << condition;
    throw std::runtime_error(said.str());
}

}  // namespace check

#define CHECK(condition) check::that((condition), #condition, __FILE__, __LINE__)
#define TEST(name)                                             \
    static void name();                                        \
    static const check::Register register_##name{#name, name}; \
    static void name()
