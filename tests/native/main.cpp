// Runs all tests, or those whose names contain the first argument; says which failed and how many passed.
#include <cstdio>
#include <exception>
#include <string>

#include "check.hpp"

int main(int count, char** arguments) {
    const std::string wanted = count > 1 ? arguments[1] : "";
    int passed = 0, failed = 0;
    for (const check::Test& test : check::tests()) {
        if (std::string(test.name).find(wanted) == std::string::npos) continue;
        try {
            test.body();
            ++passed;
        } catch (const std::exception& error) {
            std::printf("FAILED %s\n  %s\n", test.name, error.what());
            ++failed;
        }
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
