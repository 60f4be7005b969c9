"""The vault's surroundings on disk: ignore rules, names, git, fingerprints at a glance."""
