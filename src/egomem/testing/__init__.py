"""Stand-ins for tests, ours and those of extensions: a scripted model server."""
