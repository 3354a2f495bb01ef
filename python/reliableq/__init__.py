"""A reliable queue."""
