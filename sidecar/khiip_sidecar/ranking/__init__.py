"""From a query to an order of captures: signals, their fusion, memory, and pages of the result."""
