"""What recall remembers beside meaning: heat, momentum, importance, and how they are weighed."""
