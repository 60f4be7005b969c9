"""`python -m khiip_sidecar` is `khiipd`."""

from khiip_sidecar.cli.entry import main

main()
