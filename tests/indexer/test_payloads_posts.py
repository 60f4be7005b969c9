"""Saved X posts and Reddit threads, as the tools of several years wrote them."""

from __future__ import annotations

from .reading import all_text, clip, read, wire

POST = "https://x.com/lena_orn/status/21"
THREAD = "https://www.reddit.com/r/slowbread/comments/1zz9abc/my_sourdough/"


def test_old_thread_with_strangers_is_split_by_handle() -> None:
    payload = wire(clip(POST, (
        "**Lena** @lena_orn [2025-01-02](https://x.com/lena_orn/status/21)\n\nFirst.\n\n---\n\n"
        "**Lena** @lena_orn [2025-01-02](https://x.com/lena_orn/status/22)\n\nSecond.\n\n---\n\n"
        "**[[Otto]]** @otto\\_vale [2025-01-03](https://x.com/otto_vale/status/23)\n\nI disagree.\n"
    )))  # fmt: skip
    assert payload["text"] == "First.\n\nSecond."
    (reply,) = payload["top_replies"]
    assert (reply["author"], reply["body_markdown"]) == ("otto_vale", "I disagree.")
    assert reply["posted_at"] == "2025-01-03T00:00:00Z"


def test_replies_stand_under_comments_and_are_no_quoted_post() -> None:
    capture = clip(POST, (
        "My text.\n\n---\n\n## Comments\n\n"
        "> **Otto Vale @otto_vale** · [2026-05-18](https://x.com/otto_vale/status/99)\n"
        "> \n> Nice.\n"
    ))  # fmt: skip
    payload = wire(capture)
    assert payload["text"] == "My text."
    assert payload["quoted_tweet"] is None
    assert [(r["author"], r["id"]) for r in payload["top_replies"]] == [("otto_vale", "99")]
    assert "otto_vale: Nice." in all_text(capture)


def test_both_daemon_forms_of_notes_media_and_quotes() -> None:
    payload = wire(clip(POST, (
        "_In reply to_ [@bo](https://x.com/bo/status/7)\n\nLook.\n\n"
        "![](https://pbs.example/a.jpg)\n\n"
        "[video 1](https://video.example/v.mp4)\n\n**Community Note:**\n\n> Not so.\n"
    )))  # fmt: skip
    assert payload["in_reply_to_tweet_id"] == "7"
    assert payload["text"] == "Look."
    assert payload["community_note"] == "Not so."
    assert [(m["url"], m["type"]) for m in payload["media"]] == [
        ("https://pbs.example/a.jpg", "photo"),
        ("https://video.example/v.mp4", "video"),
    ]
    assert {m["download_status"] for m in payload["media"]} == {"not-attempted"}
    other = wire(clip(POST, (
        "Look.\n\n![media](https://pbs.example/a.jpg)\n\n> **Community note:** Not so.\n\n"
        "> Quoting @bo:\n> Their words.\n"
    )))  # fmt: skip
    assert other["community_note"] == "Not so."
    assert (other["quoted_tweet"]["handle"], other["quoted_tweet"]["text"]) == (
        "bo",
        "Their words.",
    )
    assert other["text"] == "Look."


def test_ordinary_quotation_stays_in_the_text() -> None:
    payload = wire(clip(POST, "He said:\n\n> To be.\n\nNo.\n"))
    assert payload["quoted_tweet"] is None
    assert payload["text"].split("\n\n") == ["He said:", "To be.", "No."]


def test_hashtags_mentions_and_outside_links() -> None:
    payload = wire(clip(POST, (
        "With [@bo](https://x.com/bo) on [#bread](https://x.com/hashtag/bread): "
        "[a.example](https://a.example/x) mail me@b.example #1\n"
    )))  # fmt: skip
    assert payload["hashtags"] == ["bread"]
    assert payload["mentions"] == ["bo"]
    assert payload["urls"] == ["https://a.example/x"]


def test_handle_is_the_posters_even_where_the_title_names_another() -> None:
    payload = wire(clip("https://x.com/real_one/status/3", "Hi.\n", title="Post by @parent on X"))
    assert payload["handle"] == "real_one"


def test_article_has_its_title() -> None:
    payload = wire(clip("https://x.com/ann/article/5", "First part.\n\n## More\n\nEnd.\n",
                        title="On steam"))  # fmt: skip
    assert payload["article"] == {
        "id": "5",
        "title": "On steam",
        "preview": payload["article"]["preview"],
    }
    assert payload["article"]["preview"].startswith("First part.")


def test_read_it_later_post_is_its_quotation() -> None:
    capture = read(
        "[[ReadItLater]] [[Tweet]]\n\n# [Greta Boll](https://twitter.com/greta_kites/status/15)\n\n"
        "> Wind is up.\n>\n"
        "> — Greta Boll (@greta_kites) [April 7, 2025](https://twitter.com/greta_kites/status/15)\n"
    )
    payload = wire(capture)
    assert (capture.source, capture.author, payload["text"]) == ("x", "greta_kites", "Wind is up.")
    assert capture.valid_from.isoformat().startswith("2025-04-07")


OLD_REDDIT = """Self text with *marks*.

---

## Comments

> **oven\\_ghost** • [8 points](https://reddit.com/r/a/comments/1/comment/aa1/) •
>
> Colder room?
>
> > a line of the post, quoted
>
> No header above.
>
> > **quiet_crumb** • [-2 points](https://reddit.com/r/a/comments/1/comment/aa2/) •
> >
> > That was it.
>
> > **\\[deleted\\]** • [3 points](https://reddit.com/r/a/comments/1/comment/aa3/) •
> >
> > gone
>
> **sib_ling** • [1 point](https://reddit.com/r/a/comments/1/comment/aa4/) •
>
> Same block.
"""


def test_only_a_header_opens_a_comment() -> None:
    capture = clip(THREAD, OLD_REDDIT, author="[[quiet_crumb]]")
    payload = wire(capture)
    assert payload["body_text"] == "Self text with marks."
    first, sibling = payload["comments"]
    assert (first["id"], first["author"], first["points"]) == ("aa1", "oven_ghost", 8)
    assert "> a line of the post, quoted" in first["body_markdown"]
    assert "No header above." in first["body_markdown"]
    reply, deleted = first["replies"]
    assert (reply["author"], reply["points"], reply["depth"], reply["is_op"]) == (
        "quiet_crumb", -2, 1, True)  # fmt: skip
    assert (deleted["author"], deleted["points"]) == (None, 3)
    assert (sibling["author"], sibling["body_markdown"]) == ("sib_ling", "Same block.")
    assert "Same block." in all_text(capture)


def test_reddit_post_types() -> None:
    image = wire(clip(THREAD, "![r/Slow - bread](https://preview.redd.it/a.png)\n"))
    assert (image["post_type"], image["media"][0]["alt_text"]) == ("image", "r/Slow - bread")
    link = wire(clip(THREAD, "[https://a.example/x](https://a.example/x)\n"))
    assert (link["post_type"], link["link_url"]) == ("link", "https://a.example/x")
    assert wire(clip(THREAD, "Text.\n"))["post_type"] == "text"


def test_exported_reddit_post_was_posted_when_created() -> None:
    capture = read(
        "---\ntype: reddit-post\nsubreddit: slowbread\nauthor: quiet_crumb\n"
        "created: 2026-04-30T10:00:00.000Z\ndate: 4/30/2026\n"
        "permalink: https://reddit.com/r/slowbread/comments/1zz9abc/x/\nid: 1zz9abc\n"
        'title: "Collapsing"\nscore: 41\nnum_comments: 7\nflair: "Help"\npost_type: text\n---\n\n'
        "> 🔖 **Saved** • **r/slowbread** • 👤 u/quiet_crumb • ⬆️ 41 • 💬 7\n\n# Collapsing\n\n"
        "It falls.\n\n---\n\n## 💬 Top Comments\n\n"
        "**u/oven_ghost** • ⬆️ 12 • 5/1/2026\n\nColder?\n\n"
        "> **u/quiet_crumb** 👑 **OP** • ⬆️ 2 • 5/1/2026\n> \n> Yes.\n"
    )
    payload = wire(capture)
    assert (capture.source, capture.title, capture.recorded_at_from) == (
        "reddit",
        "Collapsing",
        "mtime",
    )
    assert capture.valid_from.isoformat() == "2026-04-30T10:00:00+00:00"
    assert payload["body_text"] == "It falls."
    assert (payload["engagement"]["net_score"], payload["comment_count_total"]) == (41, 7)
    (comment,) = payload["comments"]
    assert (comment["author"], comment["points"], comment["body_markdown"]) == (
        "oven_ghost", 12, "Colder?")  # fmt: skip
    assert comment["replies"][0]["author"] == "quiet_crumb"
