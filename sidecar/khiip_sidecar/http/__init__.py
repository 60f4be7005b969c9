"""The REST face: routes, its guard, and errors as JSON."""
