/* Build-time program: writes C source that holds the flattened text of every kernel named on its command line.
 * Use: embed DIRECTORY KERNEL... > embedded.c */
#include "flatten.h"

#include <stdio.h>
#include <stdlib.h>

static void write_bytes(const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++)
        printf("%d,%s", text[i], i % 24 == 23 ? "\n" : "");
    printf("0\n");
}

int main(int argc, char **argv)
{
    printf("#include \"embedded.h\"\n");
    for (int i = 2; i < argc; i++) {
        char file[256], missing[4096] = "";
        snprintf(file, sizeof file, "%s.cl", argv[i]);
        char *text = flatten_file(argv[1], file, missing, sizeof missing);
        if (text == NULL) {
            fprintf(stderr, "embed: cannot read %s\n", missing);
            return 1;
        }
        printf("static const char text_%s[] = {\n", argv[i]);
        write_bytes(text);
        printf("};\n");
        free(text);
    }
    printf("const embedded_kernel embedded_kernels[] = {\n");
    for (int i = 2; i < argc; i++)
        printf("    {\"%s\", text_%s},\n", argv[i], argv[i]);
    printf("    {0, 0},\n};\n");
    return 0;
}
