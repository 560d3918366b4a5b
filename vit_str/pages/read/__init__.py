"""Lines -> words, with the marks, bullets and boxes to tick that readers miss."""
