import pytest


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Writes a file into an empty folder that is the current one, and gives its name."""
    monkeypatch.chdir(tmp_path)

    def save(content: str | bytes, name: str) -> str:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return save
