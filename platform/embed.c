/* Build-time program: writes C source that holds the flattened text of every kernel file named on
 * its command line. Use: embed DIRECTORY,DIRECTORY FILE... > embedded.c */
#include "flatten.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As a string of C, a line each: compilers take seconds for as many numbers. */
static void write_text(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (c == text || c[-1] == '\n')
            putchar('"');
        if (*c == '\\' || *c == '"' || *c == '?')
            putchar('\\');
        if (*c == '\n' || c[1] == '\0')
            fputs(*c == '\n' ? "\\n\"\n" : (char[]){*c, '"', '\n', '\0'}, stdout);
        else
            putchar(*c);
    }
}

int main(int argc, char **argv)
{
    const char *directories[8] = {NULL};
    int count = 0;
    if (argc < 3)
        return 1;
    for (char *word = strtok(argv[1], ","); word != NULL && count < 7; word = strtok(NULL, ","))
        directories[count++] = word;
    printf("#include \"embedded.h\"\n");
    for (int i = 2; i < argc; i++) {
        char fault[4096] = "";
        char *text = flatten_file(directories, argv[i], fault, sizeof fault);
        if (text == NULL) {
            fprintf(stderr, "embed: cannot read %s\n", fault);
            return 1;
        }
        printf("static const char text_%d[] =\n", i);
        write_text(text);
        printf(";\n");
        free(text);
    }
    printf("const embedded_kernel embedded_kernels[] = {\n");
    for (int i = 2; i < argc; i++)
        printf("    {\"%s\", text_%d},\n", argv[i], i);
    printf("    {0, 0},\n};\n");
    return 0;
}
