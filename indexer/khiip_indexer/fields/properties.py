"""The frontmatter's keys that have a place of their own in a capture, and the rest; pure."""

from __future__ import annotations

import re

from khiip_indexer.fields.mentions import texts
from khiip_indexer.fields.metadata import normal_key, unwrap_wikilinks
from khiip_indexer.fields.named_ids import ID_KEYS
from khiip_indexer.fields.written_dates import MODIFIED_KEYS, RECORDED_KEYS, VALID_KEYS
from khiip_indexer.types import Frontmatter

AUTHOR_KEYS = ("author", "authors", "byline", "by", "creator", "channel", "uploader")
DESCRIPTION_KEYS = ("description", "summary", "abstract", "excerpt")
TAG_KEYS = ("tags", "tag", "keywords")
MAX_PROPERTIES = 60
MAX_PROPERTY_CHARS = 2_000
_TEMPLATE = re.compile(r"\{\{|<%")

# Keys whose values have a place of their own in a capture: the rest are the note's properties.
_PLACED = frozenset(
    normal_key(key)
    for keys in (
        *AUTHOR_KEYS,
        *DESCRIPTION_KEYS,
        *RECORDED_KEYS,
        *VALID_KEYS,
        *MODIFIED_KEYS,
        *TAG_KEYS,
        *ID_KEYS,
        "title,name,aliases,alias,url,source,source_url,link,canonical,permalink,original_url,media",
        "archived,superseded_by,supersedes,layer,altitude,mem_type,mem_state,thread_id,thread",
        "importance,pinned,schema_version,cssclass,cssclasses,publish,citekey,zotero-key,doi",
        "date_saved,date_published,fetched,pubdate,create_time,update_time,epoch,reminder",
        "metadata,kanban-plugin,excalidraw-plugin,nexus,plugin_version,provider,raindrop_id",
        "raindrop_highlights,kindle-sync,annotation-target,doc_type,conversation_id,image,cover",
        "handle,likes,retweets,replies,score,num_comments,subreddit,post_type,flair,upvote_ratio",
    )
    for key in keys.split(",")
)


def properties(front: Frontmatter) -> dict[str, str | list[str]]:
    """Return the frontmatter without a place of its own, as text: meaning may stand only there."""
    found: dict[str, str | list[str]] = {}
    for key, value in front.metadata.items():
        if normal_key(key) in _PLACED or len(found) == MAX_PROPERTIES:
            continue
        shown = [unwrap_wikilinks(text).strip()[:MAX_PROPERTY_CHARS] for text in texts(value)]
        shown = [text for text in shown if text and not _TEMPLATE.search(text)]
        if shown:
            found[key] = shown if isinstance(value, list) else "; ".join(shown)
    return found
