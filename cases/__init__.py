"""The published systems, one short file each."""
