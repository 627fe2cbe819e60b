/* Stands in for a library that Wine 8 lacks and Rust's standard library needs. For tests only. */
unsigned char SystemFunction036(void *buffer, unsigned long length);

__declspec(dllexport) int ProcessPrng(unsigned char *buffer, unsigned long long length) {
    return SystemFunction036(buffer, (unsigned long)length);
}
