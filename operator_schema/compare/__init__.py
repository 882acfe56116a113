"""What changed between two versions of tools, and whether it breaks anybody."""
