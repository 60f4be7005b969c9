"""Names and forms on the wire: the only code that spells them."""
