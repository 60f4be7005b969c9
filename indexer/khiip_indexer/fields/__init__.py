"""What a note says of itself: frontmatter, dates, entities, addresses."""
