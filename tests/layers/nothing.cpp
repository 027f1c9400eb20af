// A program that does nothing: that it links is what it shows.
int main() { return 0; }
