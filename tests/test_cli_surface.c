/* leyden surface: what it says, pictures, files that others read, and what is refused. */
#include "cli_support.h"

#include <unistd.h>

static const char two_atoms[] = "ATOM 1 C X 1 0 0 0 1 2.0\nATOM 2 C X 1 2.5 0.5 0 -1 1.5\n";

static void write_molecule(void)
{
    cli_write_text("two.pqr", two_atoms);
}

/* A reader of each format, which knows nothing of how they are written: places, triangles, colours.
 * Every file has the same surface, closed, with the volume that the command says, and blue next to
 * the positive charge, red next to the negative one. */
static const char readers[] =
    "import json, re, struct\n"
    "def ply(name):\n"
    "    data = open(name, 'rb').read()\n"
    "    head, body = data.split(b'end_header\\n', 1)\n"
    "    n, m = (int(re.search(rb'element %s (\\d+)' % w, head)[1]) for w in (b'vertex', b'face'))\n"
    "    assert b'leyden surface: potential in kT/e (dielectric 78.54)' in head\n"
    "    if b'format ascii' in head:\n"
    "        lines = [line.split() for line in body.decode().splitlines()]\n"
    "        rows = [list(map(float, line)) for line in lines[:n]]\n"
    "        faces = [tuple(map(int, line[1:])) for line in lines[n:]]\n"
    "        assert len(faces) == m and all(line[0] == '3' for line in lines[n:])\n"
    "    else:\n"
    "        rows = [struct.unpack_from('<6f3Bf', body, 31 * i) for i in range(n)]\n"
    "        faces = [struct.unpack_from('<B3i', body, 31 * n + 13 * i)[1:] for i in range(m)]\n"
    "        assert len(body) == 31 * n + 13 * m\n"
    "    assert all(abs(sum(x * x for x in row[3:6]) - 1) < 1e-3 for row in rows)\n"
    "    assert all((row[9] > 0) == (row[8] > row[6]) for row in rows if abs(row[9]) > 0.5)\n"
    "    return [row[:3] for row in rows], faces, [[c / 255 for c in row[6:9]] for row in rows]\n"
    "def obj(name):\n"
    "    lines = [line.split() for line in open(name)]\n"
    "    v = [list(map(float, line[1:])) for line in lines if line[0] == 'v']\n"
    "    faces = [tuple(int(w.split('//')[0]) - 1 for w in line[1:]) for line in lines if line[0] == 'f']\n"
    "    assert len(v) == sum(line[0] == 'vn' for line in lines)\n"
    "    return [x[:3] for x in v], faces, [x[3:] for x in v]\n"
    "def stl(name):\n"
    "    data = open(name, 'rb').read()\n"
    "    m, = struct.unpack_from('<I', data, 80)\n"
    "    assert len(data) == 84 + 50 * m\n"
    "    places, faces = {}, []\n"
    "    for i in range(m):\n"
    "        f = struct.unpack_from('<12f', data, 84 + 50 * i)[3:]\n"
    "        faces.append(tuple(places.setdefault(f[k:k + 3], len(places)) for k in (0, 3, 6)))\n"
    "    return list(places), faces, None\n"
    "def glb(name):\n"
    "    data = open(name, 'rb').read()\n"
    "    magic, version, size, text, kind = struct.unpack_from('<4sIII4s', data)\n"
    "    assert (magic, version, size, kind) == (b'glTF', 2, len(data), b'JSON') and text % 4 == 0\n"
    "    about = json.loads(data[20:20 + text])\n"
    "    bytes_, kind = struct.unpack_from('<I4s', data, 20 + text)\n"
    "    assert kind == b'BIN\\0' and bytes_ == about['buffers'][0]['byteLength'] == len(data) - 28 - text\n"
    "    def read(number):\n"
    "        a = about['accessors'][number]\n"
    "        view = about['bufferViews'][a['bufferView']]\n"
    "        form = '<' + {'VEC3': 3, 'SCALAR': 1}[a['type']] * {5126: 'f', 5125: 'I'}[a['componentType']]\n"
    "        at = 28 + text + view['byteOffset'] + a['byteOffset']\n"
    "        step = view.get('byteStride', struct.calcsize(form))\n"
    "        return [struct.unpack_from(form, data, at + step * i) for i in range(a['count'])]\n"
    "    part = about['meshes'][0]['primitives'][0]\n"
    "    places = read(part['attributes']['POSITION'])\n"
    "    a = about['accessors'][part['attributes']['POSITION']]\n"
    "    assert all(abs(min(p[x] for p in places) - a['min'][x]) < 1e-6 for x in range(3))\n"
    "    i = [x[0] for x in read(part['indices'])]\n"
    "    return places, list(zip(i[::3], i[1::3], i[2::3])), read(part['attributes']['COLOR_0'])\n"
    "def volume(v, faces):\n"
    "    det = lambda a, b, c: sum(a[i] * (b[i-2] * c[i-1] - b[i-1] * c[i-2]) for i in range(3))\n"
    "    return sum(det(*(v[i] for i in f)) for f in faces) / 6\n"
    "said = json.load(open('out/ply.json'))\n"
    "for name, read in (('s.ply', ply), ('p.ply', ply), ('s.obj', obj), ('s.stl', stl), ('s.glb', glb), ('c.glb', "
    "glb),\n"
    "                   ('d.stl', stl)):\n"
    "    v, faces, colours = read('out/' + name)\n"
    "    sides = {(f[i], f[i - 2]) for f in faces for i in range(3)}\n"
    "    assert len(sides) == 3 * len(faces) and all((b, a) in sides for a, b in sides), name\n"
    "    assert (len(v), len(faces)) == (said['vertices'], said['triangles']), name\n"
    "    assert abs(volume(v, faces) / said['volume_A3'] - 1) < 0.03, (name, volume(v, faces))\n"
    "    if colours:\n"
    "        low, high = (f(range(len(v)), key=lambda i: v[i][0]) for f in (min, max))\n"
    "        assert colours[low][2] > colours[low][0] and colours[high][0] > colours[high][2], name\n"
    "print('all read')\n";

static void test_formats(void **state)
{
    write_molecule();
    cli_run(0, "accuracy: vertices within 0.00", NULL, "surface two.pqr -o out/s.obj");
    cli_run(0, "dielectric 78.54 everywhere", NULL, "surface two.pqr -o out/s.ply --json out/ply.json");
    cli_run(0, "", NULL, "surface two.pqr -o out/s.obj -q");
    cli_run(0, "", NULL, "surface two.pqr -o out/s.stl -q");
    cli_run(0, "", NULL, "surface two.pqr -o out/s.glb -q");
    cli_run(0, "written: out/p.ply", NULL, "surface two.pqr -o out/p.pml");
    cli_run(0, "written: out/c.glb", NULL, "surface two.pqr -o out/c.cxc");
    cli_run(0, "written: out/d.stl", NULL, "surface two.pqr -o out/d.cmd");
    cli_python(readers);
    cli_expect(0, "all read", NULL);
    static const char *const scripts[][2] = {
        {"out/p.pml", "'p.ply'"}, {"out/c.cxc", "open \"c.glb\""}, {"out/d.cmd", "open stl:d.stl"}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char *text = cli_read(scripts[i][0], NULL);
        assert_non_null(strstr(text, scripts[i][1]));
        free(text);
    }
}

/* PyMOL itself runs the script, from another folder. */
static void test_pymol(void **state)
{
    write_molecule();
    cli_run(0, "", NULL, "surface two.pqr -o out/p.pml -q");
    cli_python(
        "import os, subprocess, sys\n"
        "try:\n"
        "    import pymol\n"
        "except ImportError:\n"
        "    print('no PyMOL'); sys.exit()\n"
        "here = os.path.abspath('out/p.pml')\n"
        "done = subprocess.run([sys.executable, '-m', 'pymol', '-cq', here, '-d', 'print(\"has\", cmd.get_names())'],\n"
        "                      cwd='/', capture_output=True, text=True, timeout=100)\n"
        "assert \"has ['p']\" in done.stdout, done\n");
}

static void test_picture(void **state)
{
    write_molecule();
    cli_run(0, "written: out/a.png, 240 x 180 pixels, ", NULL, "surface two.pqr -o out/a.png --size 240");
    cli_run(0, "colours from -5 to 5\nwritten: out/f.png, 240 x 180 pixels, ", NULL,
            "surface two.pqr -o out/f.png --size 240 --dpi 300");
    cli_run(0, "", NULL, "surface two.pqr -o out/b.png --size 240 -q");
    cli_assert_same_files("out/a.png", "out/b.png");
    cli_run(0, "", NULL, "surface two.pqr -o out/c.png --size 240 --transparent -q");
    cli_run(0, "", NULL, "surface two.pqr -o out/d.png --size 240 --angles 0,90,180 --title two -q");
    cli_run(0, "", NULL, "surface two.pqr -o out/e.tachyon --size 240 -q");
    /* Blue on the left, where the positive charge is, red on the right; nothing in the corners. */
    cli_python(
        "import struct, zlib\n"
        "def png(name):\n"
        "    data, at, packed = open(name, 'rb').read(), 8, b''\n"
        "    while at < len(data):\n"
        "        size, kind = struct.unpack_from('>I4s', data, at)\n"
        "        part = data[at + 8:at + 8 + size]\n"
        "        if kind == b'IHDR': w, h, depth, form = struct.unpack_from('>IIBB', part)\n"
        "        if kind == b'IDAT': packed += part\n"
        "        at += 12 + size\n"
        "    n, rows, last = {2: 3, 6: 4}[form], [], None\n"
        "    raw = zlib.decompress(packed)\n"
        "    last = bytes(n * w)\n"
        "    for y in range(h):\n"
        "        line = bytearray(raw[y * (n * w + 1):(y + 1) * (n * w + 1)])\n"
        "        how, line = line[0], line[1:]\n"
        "        for i in range(n * w):\n"
        "            a, b, c = line[i - n] if i >= n else 0, last[i], last[i - n] if i >= n else 0\n"
        "            p = a + b - c\n"
        "            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]\n"
        "            line[i] = (line[i] + (0, a, b, (a + b) // 2, near)[how]) & 255\n"
        "        rows.append([tuple(line[i:i + n]) for i in range(0, n * w, n)])\n"
        "        last = line\n"
        "    return rows\n"
        "a, c, d = (png('out/%s.png' % name) for name in 'acd')\n"
        "assert (len(a[0]), len(a)) == (240, 180) and a[0][0] == (255, 255, 255)\n"
        "left, right = a[75][70], a[75][175]\n"
        "assert left[2] > left[0] + 20 and right[0] > right[2] + 20, (left, right)\n"
        "assert c[0][0][3] == 0 and c[75][70][3] == 255\n"
        "assert all(abs(x - y) < 3 for x, y in zip(c[75][70], left))\n"
        "assert len(d[0]) == 240 and len(d) < 180\n"
        "per_metre = [struct.unpack_from('>IIB', x, x.index(b'pHYs') + 4) for x in\n"
        "             (open('out/%s.png' % name, 'rb').read() for name in 'af')]\n"
        "assert per_metre == [(3780, 3780, 1), (11811, 11811, 1)] and png('out/f.png') == a, per_metre\n"
        "scene = open('out/e.tachyon').read()\n"
        "assert scene.startswith('Begin_Scene') and scene.endswith('End_Scene\\n') and '\\nTriMesh ' in scene\n"
        "import os, shutil, subprocess\n"
        "if shutil.which('tachyon'):\n"
        "    subprocess.run(['tachyon', 'out/e.tachyon', '-format', 'TARGA', '-o', 'e.tga'], stdout=-3, timeout=100)\n"
        "    assert os.path.getsize('e.tga') > 3 * 240 * 100\n"
        "print('seen')\n");
    cli_expect(0, "seen", NULL);
}

/* The name of a map's file, which its picture has below, is any bytes. */
static void test_names_of_files(void **state)
{
    write_molecule();
    cli_run(0, "", NULL, "map two.pqr -o no\377text.dx --spacing 1 --padding 6 --device host -q");
    cli_run(0, "", NULL, "surface --map no\377text.dx --level 50 -o out/a.png --size 240 -q");
    cli_run(0, "", NULL, "surface two.pqr --map no\377text.dx -o out/b.png --size 240 --title \303\251 -q");
}

/* The default range is 5 kT/e in each unit, so that the colours are the same; and 5 in one that is
 * unknown. */
static void test_colours_in_each_unit(void **state)
{
    static const struct {
        const char *units, *name, *of_kT;
    } cases[] = {{"kT/e", "kT", "1"},
                 {"V", "V", "1.380649e-23 * 298.15 / 1.602176634e-19"},
                 {"kcal/mol/e", "kcal", "1.380649e-23 * 298.15 * 6.02214076e23 / 4184"},
                 {"kJ/mol/e", "kJ", "1.380649e-23 * 298.15 * 6.02214076e23 / 1000"}};
    write_molecule();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_run(0, "", NULL, "map two.pqr -o out/%s.raw --units %s --dielectric 78.54 --spacing 0.5 --device host -q",
                cases[i].name, cases[i].units);
        cli_run(0, "", NULL, "surface two.pqr --map out/%s.raw -o out/%s.obj --json out/%s.json -q", cases[i].name,
                cases[i].name, cases[i].name);
        char script[1024];
        snprintf(script, sizeof script,
                 "import json\n"
                 "name, unit = '%s', %s\n"
                 "low, high = json.load(open('out/' + name + '.json'))['range']\n"
                 "assert -low == high and abs(high / (5 * unit) - 1) < 1e-6, high\n"
                 "def colours(name):\n"
                 "    return [[float(x) for x in line.split()[4:]] for line in open(name) if line[:2] == 'v ']\n"
                 "pairs = zip(colours('out/kT.obj'), colours('out/' + name + '.obj'))\n"
                 "assert all(abs(x - y) < 0.005 for a, b in pairs for x, y in zip(a, b))\n"
                 "print('alike')\n",
                 cases[i].name, cases[i].of_kT);
        cli_python(script);
        cli_expect(0, "alike", NULL);
    }
    char *header = cli_read("out/V.raw.json", NULL), *at = strstr(header, "\"V\"");
    assert_non_null(at);
    memcpy(at, "\"?\"", 3);
    cli_write_text("out/V.raw.json", header);
    free(header);
    cli_run(0, "values: -0.0", NULL, "surface two.pqr --map out/V.raw -o out/a.ply");
    cli_expect(0, " ?, colours from -5 to 5\n", NULL);
}

/* Of a map: levels in their colours; a molecule in the colours of a map. */
static void test_maps(void **state)
{
    write_molecule();
    cli_run(0, "", NULL, "map two.pqr -o out/a.dx --spacing 0.5 --padding 6 --device host -q");
    cli_run(0, "colours from -100 to 100", NULL, "surface --map out/a.dx --level=-100,100 -o out/l.ply");
    cli_run(0, "open where the map ends", NULL, "surface --map out/a.dx --level 0 -o out/zero.ply");
    cli_run(0, "level  area, A^2  volume, A^3  triangles\n", NULL,
            "surface --map out/a.dx --level 100,200,100.0,0 -o out/n.ply --json out/n.json");
    cli_run(0, "", NULL, "surface --map out/a.dx --level 200 -o out/o.ply --json out/o.json -q");
    cli_python("import json\n"
               "n, o = (json.load(open('out/%s.json' % name)) for name in 'no')\n"
               "assert [x['level'] for x in n['levels']] == [100, 200, 0] and n['volume_A3'] is None\n"
               "assert n['levels'][2]['volume_A3'] is None and n['levels'][0]['volume_A3'] > o['volume_A3'] > 0\n"
               "assert o['levels'] == [n['levels'][1]] and o['area_A2'] == o['levels'][0]['area_A2']\n"
               "assert sum(x['triangles'] for x in n['levels']) == n['triangles']\n"
               "print('each by itself')\n");
    cli_expect(0, "each by itself", NULL);
    cli("surface two.pqr --map out/a.dx -o out/m.ply --json out/m.json");
    cli_expect(0, "values: ", NULL);
    cli("surface two.pqr --dielectric 1 -o out/v.ply --json out/v.json -q");
    cli_python("import json\n"
               "m, v = (json.load(open('out/%s.json' % name)) for name in 'mv')\n"
               "assert m['units'] == v['units'] == 'kT/e'\n"
               "assert all(abs(x / y - 1) < 0.1 for x, y in zip(m['bounds'], v['bounds'])), (m, v)\n"
               "print('alike')\n");
    cli_expect(0, "alike", NULL);
}

static void test_refuses(void **state)
{
    write_molecule();
    cli_write_text("bare.pqr", "ATOM 1 C X 1 0 0 0 1 0\n");
    cli_run(0, "", NULL, "map two.pqr -o small.dx --dims 9,9,9 --spacing 0.25 --device host -q");
    cli_empty(NULL);
    static const cli_failing cases[] = {
        {"surface two.pqr -o out/a.jpg", 1, "must end in .png, .tachyon, .ply, .obj, .stl, .glb, .cxc, .cmd or .pml"},
        {"surface -o out/a.png", 1, "a MOLECULE is missing, or --map with --level"},
        {"surface --map small.dx -o out/a.png", 1, "--map without a molecule needs --level"},
        {"surface two.pqr --level 1 -o out/a.png", 1,
         "--level needs a map in place of the molecule; type: leyden map two.pqr -o NEW.dx, "},
        {"surface --map small.dx --level 1 --spacing 1 -o out/a.png", 1, "--spacing applies to molecules only"},
        {"surface two.pqr --map small.dx --dielectric 2 -o out/a.png", 1,
         "--dielectric applies to the potential that is computed"},
        {"surface two.pqr -o out/a.ply --angles 3", 1, "--angles applies to pictures only, .png"},
        {"surface none.pqr -o out/a.png --title no\377text", 1,
         "--title is not UTF-8; to convert it from Latin-1, type:"},
        {"surface two.pqr -o out/a.png --limits 0", 1, "--limits: 0 is not above 0"},
        {"surface two.pqr -o out/a.png --limits 2,1", 1, "--limits: 2 is not below 1"},
        {"surface two.pqr -o out/a.png --limits 1,2,3", 1, "--limits takes one number or two, not 3"},
        {"surface bare.pqr -o out/a.png", 2,
         "bare.pqr: no atom has a radius, so that there is no surface: pdb2pqr "
         "writes radii, and so does 'python3 -m leyden convert' with --radii element\n"},
        {"surface two.pqr -o out/a.ply --dpi 300", 1, "--dpi applies to pictures only, .png"},
        {"surface two.pqr --map small.dx -o out/a.png", 2,
         "outside the map: it must reach over the surface (small.dx; leyden map makes one"},
        {"surface --map small.dx --level 1e9 -o out/a.png", 2, "no surface at level 1e+09: the map's values are from"},
        {"surface small.dx -o out/a.png", 1,
         "'small.dx' is a map, and no molecule; type: leyden surface --map small.dx -o out/a.png --level=-1,1\n"},
        {"surface none.pqr -o out/a.png", 2, "none.pqr: No such file"},
        {"surface two.pqr -o none/a.png", 2, "none/a.png"},
        {"surface two.pqr -o out/x'y.pml", 1, "a script cannot load a file of this name; use letters, digits"},
    };
    CLI_CHECK_FAILURES(cases);
}

/* Hydrogens of small radius within other atoms are not said to be missing; those by themselves are,
 * and found at the spacing that is proposed. */
static void test_small_atoms(void **state)
{
#define OXYGEN "ATOM 1 O X 1 0.1 0.1 0.1 -1 1.77\n"
    cli_write_text("water.pqr", OXYGEN "ATOM 2 H X 1 1.0 0.35 0.3 0.5 0.22\nATOM 3 H X 1 -0.3 0.9 0.3 0.5 0.22\n");
    cli_write_text("loose.pqr", OXYGEN "ATOM 2 H X 1 5.35 0.35 0.35 0.5 0.23\nATOM 3 H X 1 1.0 0.3 0.3 0.5 0.22\n");
    assert_string_equal(cli("surface water.pqr -o out/a.ply")->err, "");
    cli_run(0, NULL,
            "loose.pqr: 1 atom too small for the grid is missing from the surface, the smallest of radius 0.23 A; "
            "--spacing 0.26 finds them all\n",
            "surface loose.pqr -o out/a.ply --device host --json out/a.json");
    assert_string_equal(cli("surface loose.pqr -o out/a.ply --spacing 0.26 --json out/b.json")->err, "");
    cli_python("import json\n"
               "a, b = (json.load(open('out/%s.json' % name))['volume_A3'] for name in 'ab')\n"
               "assert abs((b - a) / (4.18879 * 0.23 ** 3) - 1) < 0.5, (a, b)\n");
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_formats, test_pymol, test_picture,
                     test_names_of_files, test_colours_in_each_unit, test_maps, test_refuses, test_small_atoms);
}
