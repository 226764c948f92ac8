from tools import stubs


def test_the_stub_file_is_what_the_bindings_say():
    assert stubs.STUBS.read_text(encoding="utf-8") == stubs.generate(), "run `make stubs`"
