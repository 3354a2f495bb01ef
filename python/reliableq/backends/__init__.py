"""The places that queues can be in."""
