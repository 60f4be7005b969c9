"""Which source a URL belongs to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.fields import sources
from khiip_indexer.types import SOURCES


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://x.com/ann/status/1", "x"),
        ("https://mobile.twitter.com/ann/status/1?s=20", "x"),
        ("https://x.com/i/article/12", "x"),
        ("https://twitter.com/ann/thread/12", "x"),
        ("https://x.com/ann", "web"),
        ("https://notx.com/ann/status/1", "web"),
        ("https://old.reddit.com/r/a/comments/b/c/", "reddit"),
        ("https://redd.it/1zz9abc", "reddit"),
        ("https://www.youtube.com/watch?v=aB3dEfGh1jK&list=x", "youtube"),
        ("https://m.youtube.com/shorts/aB3dEfGh1jK", "youtube"),
        ("https://youtu.be/aB3dEfGh1jK?t=3", "youtube"),
        ("https://www.youtube-nocookie.com/embed/aB3dEfGh1jK", "youtube"),
        ("https://www.youtube.com/@channel", "web"),
        ("https://zh.wikipedia.org/wiki/%E6%B5%B7", "wiki"),
        ("https://en.m.wikipedia.org/wiki/Sea", "wiki"),
        ("https://a.example/Paper.PDF?x=1", "pdf"),
        ("https://arxiv.org/pdf/2401.00001", "pdf"),
        ("https://arxiv.org/abs/2401.00001", "web"),
        ("https://news.ycombinator.com/item?id=1", "web"),
        ("HTTPS://X.COM/ann/status/1", "x"),
        ("http://[", "note"),
        ("https://", "note"),
        ("zotero://select/1", "note"),
        ("www.example.com/x", "note"),
        ("", "note"),
        (None, "note"),
    ],
)
def test_source_follows_host_and_path(url: str | None, source: str) -> None:
    assert sources.source_of(url) == source


def test_a_url_is_one_word_with_a_host() -> None:
    assert sources.as_url(" <https://a.example/b> ") == "https://a.example/b"
    assert sources.as_url("https://a.example/b c") is None
    assert sources.as_url("[text](https://a.example)") is None


def test_ids_in_urls() -> None:
    assert sources.x_handle("https://x.com/Ann_B/status/12") == "Ann_B"
    assert sources.x_handle("https://x.com/i/status/12") is None
    assert sources.status_id("https://x.com/i/web/status/12") == "12"
    assert sources.reddit_ids("https://www.reddit.com/r/slowbread/comments/1zz/x/") == (
        "slowbread",
        "1zz",
    )
    assert sources.video_id("https://www.youtube.com/live/aB3dEfGh1jK") == "aB3dEfGh1jK"
    assert sources.wiki_language("https://zh-yue.wikipedia.org/wiki/A") == "zh-yue"
    assert sources.site_of("https://www.Fog.example:80/x") == "fog.example"


@given(st.text(max_size=60))
def test_any_text_has_a_source(text: str) -> None:
    assert sources.source_of(text) in SOURCES
    assert sources.source_of(f"https://{text}") in SOURCES
    sources.host_of(f"http://{text}")
    sources.obsidian_url(text, text)
