"""The command line: one file a command, one error table in `main`."""
