"""Parts of pages: text, tables, facts, pictures, and what lies beside what."""
