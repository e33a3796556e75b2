/* A plug-in of another version: the library reads no more of it than that. */
static const char* const head[] = {"0.5.0"};
const void* tw_plugin(void) { return head; }
