"""Reports: figures, pages, summaries."""
