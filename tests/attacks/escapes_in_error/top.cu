#error [2J]0;owned[31m ‮gnp 31m  pass
