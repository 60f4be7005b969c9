"""How changes of a vault become known: the system's events, and waiting for their end."""
