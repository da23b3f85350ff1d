"""The transcript on the page about MCP is what the server answers."""

from tests.serve.mcp.transcript import PAGE, with_transcript


def test_the_transcript_is_fresh() -> None:
    page = PAGE.read_text()
    assert page == with_transcript(page), "run python -m tests.serve.mcp.transcript"
