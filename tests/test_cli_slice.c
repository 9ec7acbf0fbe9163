/* leyden slice: pictures, and what is refused. */
#include "cli_support.h"

#include <unistd.h>

static void write_test_map(void)
{
    cli_run(0, NULL, NULL, "map ion.pqr -o out/a.dx --dims 30,20,10");
}

static unsigned big_endian(const unsigned char *bytes)
{
    return (unsigned)bytes[0] << 24 | (unsigned)bytes[1] << 16 | (unsigned)bytes[2] << 8 | bytes[3];
}

static void test_slice(void **state)
{
    write_test_map();
    for (const char *const *plane = (const char *const[]){"x", "y", "z", NULL}; *plane != NULL; plane++) {
        size_t size;
        cli("slice out/a.dx -o out/a.png --plane %s --index 3 --size 400 --contours --title slice", *plane);
        unsigned char *png = (unsigned char *)cli_read("out/a.png", &size);
        assert_true(size > 1000);
        assert_memory_equal(png, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
        assert_int_equal(big_endian(png + 16), 400);
        char written[64];
        snprintf(written, sizeof written, "written: out/a.png, 400 x %u pixels, ", big_endian(png + 20));
        cli_expect(0, written, NULL);
        free(png);
    }
    cli_run(0, "\"units\": \"kT/e\"", NULL, "slice out/a.dx -o out/b.png --at 4 --range -1,2 --json -");
}

static void assert_begins(const char *name, const char *begin)
{
    char *bytes = cli_read(name, NULL);
    assert_memory_equal(bytes, begin, strlen(begin));
    free(bytes);
}

static void test_formats(void **state)
{
    write_test_map();
    cli_run(0, "written: out/a.svg, ", NULL, "slice out/a.dx -o out/a.svg --contours");
    assert_begins("out/a.svg", "<?xml");
    cli_run(0, "written: out/a.pdf", NULL, "slice out/a.dx -o out/a.pdf --contours");
    assert_begins("out/a.pdf", "%PDF-");
    usleep(1100000); /* the second that a page could have been made in */
    cli("slice out/a.dx -o out/b.pdf --contours");
    cli_assert_same_files("out/a.pdf", "out/b.pdf");
}

/* Whether a file's text has each of these; NULL behind the last. */
static void assert_holds(const char *name, const char *const *texts)
{
    char *text = cli_read(name, NULL);
    for (; *texts != NULL; texts++)
        if (strstr(text, *texts) == NULL)
            fail_msg("%s: no '%s'", name, *texts);
    free(text);
}

#define HOLDS(name, ...) assert_holds(name, (const char *const[]){__VA_ARGS__, NULL})

/* Headings, labels and numbers are text that can be searched, and say what was computed, whatever
 * format the map has. */
static void test_texts(void **state)
{
    static const char *const formats[] = {"dx", "dx.gz", "dxbin", "cube", "mrc", "ccp4", "npy", "raw"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        cli("map ion.pqr -o out/a.%s --dims 30,20,10 --dielectric 78.54 --device 0 -q", formats[i]);
        cli("slice out/a.%s -o out/a.svg --contours --limits 3 -q", formats[i]);
        HOLDS("out/a.svg", ">ion</text>", ">potential in kT/e, dielectric 78.54, at z = ", ">potential (kT/e)</text>",
              ">x (\303\205)</text>", ">y (\303\205)</text>", "font-size=\"16.00\" text-anchor=\"middle\"");
    }
    cli("convert out/a.raw -o out/b.mrc");
    cli("convert out/b.mrc -o out/c.cube");
    cli("slice out/c.cube -o out/a.svg --title a<b&c -q");
    HOLDS("out/a.svg", ">a&lt;b&amp;c</text>", "dielectric 78.54, at");
    cli("map ion.pqr -o out/d.raw --dims 30,20,10 --device 0 -q");
    cli("slice out/a.raw -o out/a.svg --difference out/d.raw -q");
    HOLDS("out/a.svg", ">a.raw \342\210\222 d.raw</text>", ">difference in kT/e, dielectric 78.54 and 1, at z");
    /* What others write says neither. */
    char *map = cli_read("out/a.dx", NULL);
    cli_write_text("out/plain.dx", strstr(map, "object 1"));
    cli("slice out/plain.dx -o out/a.svg -q");
    HOLDS("out/a.svg", ">plain.dx</text>", ">potential at z = ");
    free(map);
    /* Names of files are any bytes; where one is cut, no character is. */
    cli("convert out/a.dx -o out/no\377text.dx -q");
    cli("slice out/no\377text.dx -o out/a.svg -q");
    HOLDS("out/a.svg", ">ion</text>");
    cli("slice out/no\377text.dx -o out/a.svg --difference out/d.raw -q");
    HOLDS("out/a.svg", ">no?text.dx ??? d.raw</text>");
    char title[261] = "";
    for (int i = 0; i < 130; i++)
        strcat(title, "\303\251");
    cli("slice out/a.dx -o out/a.svg --title %s -q", title);
    HOLDS("out/a.svg", "\303\251\303\251\342\200\246</text>");
    cli_run(1, NULL, "slice: --title is not UTF-8; to convert it from Latin-1, type: --title ",
            "slice out/a.dx -o out/a.svg --title no\377text -q");
}

/* Files say how large their pictures are. */
static void test_resolution(void **state)
{
    static const unsigned char at_300[] = {0,    0, 0, 9,    'p',  'H', 'Y',  's',  0,    0,   0x2e,
                                           0x23, 0, 0, 0x2e, 0x23, 1,   0x78, 0xa5, 0x3f, 0x76};
    write_test_map();
    cli("slice out/a.dx -o out/a.png --dpi 300 --size 600 -q");
    char *png = cli_read("out/a.png", NULL);
    assert_memory_equal(png + 33, at_300, sizeof at_300);
    assert_int_equal(big_endian((unsigned char *)png + 16), 600);
    free(png);
    cli("slice out/a.dx -o out/a.svg --dpi 300 --size 600 -q");
    HOLDS("out/a.svg", "width=\"144pt\"");
    cli("slice out/a.dx -o out/a.png --dpi 1");
    cli_expect(1, NULL, "--dpi: 1 is out of range");
}

/* The plane and its colour bar alone, in front of whatever a page has. */
static void test_transparent(void **state)
{
    write_test_map();
    cli_run(0, "", NULL, "slice out/a.dx -o out/a.png --size 300 -q");
    cli_run(0, "", NULL, "slice out/a.dx -o out/b.png --size 300 --transparent -q");
    cli_python("import struct, zlib\n"
               "for name, depth, edge in (('a', 3, 255), ('b', 4, 0)):\n"
               "    data, at, packed = open('out/%s.png' % name, 'rb').read(), 8, b''\n"
               "    while at < len(data):\n"
               "        size, kind = struct.unpack_from('>I4s', data, at)\n"
               "        packed += data[at + 8:at + 8 + size] if kind == b'IDAT' else b''\n"
               "        at += 12 + size\n"
               "    assert data[25] == {3: 2, 4: 6}[depth], data[25]\n"
               "    raw, row = zlib.decompress(packed), 300 * depth\n"
               "    line = bytearray(raw[1:1 + row])\n"
               "    for i in range(row if raw[0] in (1, 4) else 0):\n"
               "        line[i] = (line[i] + (line[i - depth] if i >= depth else 0)) & 255\n"
               "    assert raw[0] != 3 and set(line) == {edge}, (name, raw[0], set(line))\n"
               "    assert len(packed) > 1000\n"
               "print('clear')\n");
    cli_expect(0, "clear", NULL);
    cli("slice out/a.dx -o out/a.svg -q");
    HOLDS("out/a.svg", "<rect x=\"0\" y=\"0\"");
    cli("slice out/a.dx -o out/b.svg --transparent -q");
    char *clear = cli_read("out/b.svg", NULL);
    assert_null(strstr(clear, "<rect x=\"0\" y=\"0\""));
    free(clear);
}

static void test_limits(void **state)
{
    static const char *const same[][2] = {{"--limits 5", "--limit 5"},
                                          {"--limits 5", "--range -5,5"},
                                          {"--limits -3,7", "--range -3,7"},
                                          {"--limits=-3,7", "--range -3,7"}};
    write_test_map();
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        cli_run(0, "", NULL, "slice out/a.dx -o out/a.png --size 300 %s -q", same[i][0]);
        cli("slice out/a.dx -o out/b.png --size 300 %s -q", same[i][1]);
        cli_assert_same_files("out/a.png", "out/b.png");
    }
}

static void test_atoms(void **state)
{
    /* Three within 1.5 A of z = 0, one of them without a radius, and one beyond. */
    static const char atoms[] = "ATOM 1 C X 1 2 3 1.5 1.0 %s\nATOM 2 C X 1 5 3 -1.5 1.0 2\n"
                                "ATOM 3 C X 1 7 6 0 1.0 1.5\nATOM 4 C X 1 5 5 1.51 1.0 2\n";
    char text[256];
    snprintf(text, sizeof text, atoms, "0");
    cli_write_text("four.pqr", text);
    snprintf(text, sizeof text, atoms, "1.2");
    cli_write_text("other.pqr", text);
    cli_run(0, NULL, NULL, "map four.pqr -o out/a.dx --dims 30,20,10 --origin 0,0,-2 --device 0 -q");
#define SLICE "slice out/a.dx --at 0 --size 300 -o out/"
    cli(SLICE "plain.png -q");
    cli(SLICE "four.png --atoms four.pqr");
    cli_expect(0, NULL, "--atoms is called --molecule now: the next release takes that word only");
    cli(SLICE "four.png --molecule four.pqr");
    cli_expect(0, "atoms: 3 within 1.5 A of the plane\n", NULL);
    cli_run(0, "\"atoms_drawn\": 3", NULL, SLICE "other.png --molecule other.pqr --json -");
    cli(SLICE "more.png --molecule four.pqr --within 1.6");
    cli_expect(0, "atoms: 4 within 1.6 A of the plane\n", NULL);
    assert_true(cli_same_files("out/four.png", "out/other.png"));
    assert_false(cli_same_files("out/four.png", "out/plain.png"));
    assert_false(cli_same_files("out/four.png", "out/more.png"));
    cli_run(0, "atoms: 0 within", NULL, "slice out/a.dx --index 9 -o out/none.png --molecule four.pqr --within 0");
}

/* The first map less the second one, in the first one's colours. */
static void test_difference(void **state)
{
    cli("map ion.pqr -o out/a.raw --dims 30,20,10 --device 0 -q");
    cli("map ion.pqr -o out/half.raw --dims 30,20,10 --dielectric 2 --device 0 -q");
    cli("map ion.pqr -o out/v.raw --dims 30,20,10 --units V --device 0 -q");
    cli("map ion.pqr -o out/less.raw --dims 29,20,10 --device 0 -q");
    cli_run(0, "values: 0 to 0 kT/e", NULL, "slice out/a.raw -o out/a.png --difference out/a.raw");
    cli("slice out/a.raw -o out/a.png --difference out/half.raw --limits 9 --title t -q");
    cli_run(0, "", NULL, "slice out/half.raw -o out/half.png --limits 9 --title t -q");
    /* The potential is half of it, and the difference the other half; the words are others. */
    assert_false(cli_same_files("out/a.png", "out/half.png"));
    cli("slice out/a.raw -o out/a.png --difference out/half.raw --json out/a.json -q");
    cli("slice out/half.raw -o out/half.png --json out/half.json -q");
    cli_python("import json\n"
               "a, b = (json.load(open('out/%s.json' % name))['bounds'] for name in ('a', 'half'))\n"
               "assert a[0] < 0 < a[1] and all(abs(x / y - 1) < 1e-5 for x, y in zip(a, b)), (a, b)\n"
               "print('halves')\n");
    cli_expect(0, "halves", NULL);
    cli_run(2, NULL, "out/a.raw is in kT/e, and out/v.raw in V", "slice out/a.raw -o out/x.png --difference out/v.raw");
    cli("slice out/a.raw -o out/x.png --difference out/less.raw");
    cli_expect(2, NULL, "are on different grids: 30 x 20 x 10 points and 29 x 20 x 10");
    cli_run(2, NULL, "; leyden map --like MAP computes a map on the grid of another\n",
            "slice out/a.raw -o out/x.png --difference out/less.raw");
}

static void test_slice_refuses(void **state)
{
    write_test_map();
    size_t size;
    char *map = cli_read("out/a.dx", &size);
    cli_write("cut.dx", map, size / 2);
    cli_write("whole.dx", map, size);
    char *delta = strstr(map, "\ndelta 0.000000e+00 ");
    assert_non_null(delta);
    memcpy(delta, "\ndelta 1.000000e-01 ", strlen("\ndelta 1.000000e-01 "));
    cli_write("skewed.dx", map, size);
    free(map);
    cli_empty(NULL);
    static const cli_failing cases[] = {
        {"slice skewed.dx -o out/a.png", 2,
         "skewed.dx: the grid's axes must be along x, y and z, in this order: the step from point to point along "
         "axis 2 is (0.1, "},
        {"slice whole.dx -o out/a.jpg", 1, "--output: 'out/a.jpg' must end in .png, .svg or .pdf"},
        {"slice whole.dx -o out/a.png --plane w", 1, "--plane"},
        {"slice whole.dx -o out/a.png --index 10", 1, "--index: 10 is out of range: the map has planes 0 to 9 along z"},
        {"slice whole.dx -o out/a.png --plane x --index 30", 1, "planes 0 to 29 along x"},
        {"slice whole.dx -o out/a.png --at 1e6", 1, "--at: 1000000 is out of range"},
        {"slice whole.dx -o out/a.png --at 1 --index 1", 1, "--at and --index exclude each other"},
        {"slice whole.dx -o out/a.png --range 0,1 --limit 1", 1, "--range and --limit exclude each other"},
        {"slice whole.dx -o out/a.png --range 1,1", 1, "--range: 1 is not below 1"},
        {"slice whole.dx -o out/a.png --limits 1,2,3", 1, "--limits takes one number or two, not 3"},
        {"slice whole.dx -o out/a.png --limits 0", 1, "--limits: 0 is not above 0"},
        {"slice whole.dx -o out/a.png --limits 2,1", 1, "--limits: 2 is not below 1"},
        {"slice whole.dx -o out/a.png --limits 2 --range 1,2", 1, "--limits and --range exclude each other"},
        {"slice whole.dx -o out/a.png --limits 2 --limit 1", 1, "--limits and --limit exclude each other"},
        {"slice whole.dx -o out/a.png --within 2", 1, "--within needs --molecule"},
        {"slice whole.dx -o out/a.png --molecule none.pqr", 2, "none.pqr: No such file"},
        {"slice whole.dx -o out/a.png --difference none.dx", 2, "none.dx: No such file"},
        {"slice whole.dx -o out/a.png --difference out/a.png", 1, "is the file of the map to subtract"},
        {"slice whole.dx -o out/a.png --size 1", 1, "--size: 1 is out of range"},
        {"slice cut.dx -o out/a.png", 2, "cut.dx:"},
        {"slice ion.pqr -o out/a.png", 2, "ion.pqr:1:"},
        {"slice nosuch.dx -o out/a.png", 2, "nosuch.dx: No such file"},
    };
    CLI_CHECK_FAILURES(cases);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_slice, test_formats, test_texts,
                     test_resolution, test_transparent, test_limits, test_atoms, test_difference, test_slice_refuses);
}
