"""Games as data: records, files, databases, datasets."""
