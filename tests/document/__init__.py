"""The document as a promise: what was released of it is kept."""
