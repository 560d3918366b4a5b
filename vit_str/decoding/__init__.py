"""Scores -> texts with confidences and boxes: beams, drafts, constraints, frequencies."""
