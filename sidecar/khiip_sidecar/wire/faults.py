"""Every code that an error of the service may carry, with its status and when it comes."""

from __future__ import annotations

# Codes by status; a test holds them against the classes and calls that make the errors.
FAULTS: dict[int, dict[str, str]] = {
    400: {
        "bad_request": "The request is not valid HTTP/1.1, or its head is too long.",
        "incomplete_body": "The body broke off.",
        "path_outside_vault": "A path leaves the vault.",
        "reserved_folder": "A path names a folder that holds no notes.",
    },
    401: {"unauthorized": "There is no key, or it is not the right one."},
    403: {
        "forbidden_host": "The Host header is neither the bound address nor a loopback name.",
        "forbidden_origin": "The request comes from a web page of elsewhere.",
    },
    404: {"not_found": "Nothing has this address, id or path."},
    405: {"method_not_allowed": "The address does not take the method; Allow says which it takes."},
    408: {"request_timeout": "The body did not arrive in time."},
    409: {"already_running": "Indexing is under way."},
    413: {"body_too_large": "The body is over the limit."},
    415: {"unsupported_media_type": "The body does not say that it is JSON."},
    422: {
        "bad_parameter": "A parameter's value is not allowed, or one is missing.",
        "unknown_parameter": "There is no such parameter.",
        "too_long": "A value is over the limit.",
        "empty_query": "The query holds nothing to look for.",
        "bad_json": "The body is not JSON.",
        "bad_match_expression": "The query is no MATCH expression of FTS5.",
    },
    429: {"too_many_streams": "As many programs follow the index as may."},
    500: {
        "internal_error": "The service met a fault of its own.",
        "bad_key_file": "The file with the service's key cannot be used.",
    },
    501: {"not_implemented": "Understood, and not served by this version."},
    503: {
        "index_missing": "There is no index yet.",
        "index_warming": "The index is on its way.",
        "index_of_other_model": "Another model made the index.",
        "index_from_newer_version": "A newer version made the index.",
        "index_busy": "Another process holds the index for long.",
        "index_damaged": "The index is damaged.",
        "index_not_readable": "The index may not be read.",
        "index_not_writable": "The index may not be written.",
        "disk_full": "The disk is full.",
        "index_io_failed": "The disk under the index failed to read or write.",
        "storage_failed": "The index, or the file with the key, could not be read or written.",
        "index_place_taken": "A file is where the index needs a folder.",
        "vault_not_found": "The vault cannot be found or read.",
        "vault_unavailable": "The vault's folder is not there now: nothing could be looked up.",
        "note_offline": "The note's content is not on this machine.",
        "note_unreadable": "The note cannot be read.",
        "read_timeout": "The note could not be read in time.",
        "stopping": "The service is being stopped.",
        "model_unavailable": "The model failed.",
        "model_not_found": "The model is not there.",
        "model_damaged": "The model's file is damaged.",
        "model_unsupported": "The model has parts that this version does not know.",
        "model_dimension": "The model makes vectors of another length than was said.",
        "no_embedder": "The vault has no embedder: it is searched by words.",
        "consent_needed": "Nobody agreed to the notes being sent to this embedder.",
        "no_key": "The embedder's key is not where it is looked for.",
        "embedder_refused": "The embedder's server refused the key.",
        "embedder_gone": "The embedder's server has no such model.",
        "embedder_failed": "The embedder's server takes no text.",
        "embedder_unreachable": "The embedder's server does not answer.",
    },
}

# What any request may meet, by whether its address wants the key.
ALWAYS = (
    "bad_request",
    "incomplete_body",
    "forbidden_host",
    "forbidden_origin",
    "request_timeout",
    "body_too_large",
    "unsupported_media_type",
    "internal_error",
    "stopping",
)
WITH_KEY = ("unauthorized", "bad_key_file", "storage_failed", "index_not_writable", "disk_full")


def by_status(codes: tuple[str, ...]) -> dict[int, dict[str, str]]:
    """The given codes and what they mean, by status; raises KeyError for a code of no fault."""
    meanings = {code: (status, text) for status, of in FAULTS.items() for code, text in of.items()}
    found: dict[int, dict[str, str]] = {}
    for code in dict.fromkeys(codes):
        status, text = meanings[code]
        found.setdefault(status, {})[code] = text
    return dict(sorted(found.items()))
