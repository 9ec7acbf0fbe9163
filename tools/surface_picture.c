#include "surface_picture.h"
#include "canvas.h"
#include "console.h"
#include "file.h"
#include "options.h"
#include "picture.h"
#include "surface_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tachyon.h>

/* Lengths for a picture 1000 pixels wide; everything grows with the width. */
enum { text_size = 17, title_size = 24, margin = 20, text_gap = 7, bar_height = 15, bar_length = 300 };

enum { SAMPLES = 2, MOST_VIEWS = OPTION_REALS_MAX }; /* of light in a pixel, beside the first one */

/* The ray tracer takes some 700 bytes for each, and ends the program where it gets none. */
enum { MOST_TRIANGLES = 6000000 };

typedef struct panel {
    surface_view view;
    cairo_surface_t *image;
} panel;

typedef struct drawing {
    const surface_picture *picture;
    panel panels[MOST_VIEWS];
    double unit;                      /* pixels of a length of 1 */
    double half_A[2];                 /* of all views */
    int panel_width, panel_height;    /* pixels */
    double title_height, foot_height; /* above and below the panels */
} drawing;

/* ---- The ray tracer -------------------------------------------------------------------------- */

static SceneHandle make_scene(const drawing *d, const surface_view *view)
{
    const double pixels_per_A = fmin(0.46 * d->panel_width / d->half_A[0], 0.47 * d->panel_height / d->half_A[1]);
    SceneHandle scene = rt_newscene();
    rt_verbose(scene, 0);
    rt_resolution(scene, d->panel_width, d->panel_height);
    rt_boundmode(scene, RT_BOUNDING_ENABLED);
    rt_boundthresh(scene, 16);
    rt_shadermode(scene, RT_SHADER_FULL);
    rt_phong_shader(scene, RT_SHADER_BLINN);
    rt_image_clamp(scene);
    rt_camera_projection(scene, RT_PROJECTION_ORTHOGRAPHIC);
    rt_camera_setup(scene, pixels_per_A / d->panel_height, 1, SAMPLES, 4, rt_vector(0, 0, -2 * view->depth_A - 10),
                    rt_vector(0, 0, 1), rt_vector(0, 1, 0));
    return scene;
}

static void add_light(SceneHandle scene)
{
    const double *to = view_light_direction;
    apitexture texture = {
        .col = rt_color(view_light_amount, view_light_amount, view_light_amount), .diffuse = 1, .opacity = 1};
    rt_directional_light(scene, rt_texture(scene, &texture), rt_vector(to[0], to[1], to[2]));
}

static apivector vector_of(const float v[3])
{
    return rt_vector((double)v[0], (double)v[1], (double)v[2]);
}

static apicolor colour_of(const view_vertex *v)
{
    return rt_color((double)v->colour[0], (double)v->colour[1], (double)v->colour[2]);
}

/* Corners are clockwise where z is away from the viewer. */
static void add_surface(SceneHandle scene, const surface_view *view)
{
    apitexture matter = {.texturefunc = RT_TEXTURE_CONSTANT,
                         .col = rt_color(1, 1, 1),
                         .shadowcast = 1,
                         .ambient = view_ambient,
                         .diffuse = 1,
                         .opacity = 1};
    void *common = rt_texture(scene, &matter);
    rt_tex_phong(common, view_gloss, view_gloss_exponent, RT_PHONG_PLASTIC);
    const int32_t *corner = ley_surface_triangles(view->surface);
    for (int64_t i = 0; i < ley_surface_triangle_count(view->surface); i++, corner += 3) {
        const view_vertex *a = &view->vertices[corner[0]], *b = &view->vertices[corner[2]],
                          *c = &view->vertices[corner[1]];
        void *texture = rt_texture_copy_vcstri(scene, common); /* it belongs to one triangle, whose colours it mixes */
        rt_vcstri(scene, texture, vector_of(a->place), vector_of(b->place), vector_of(c->place), vector_of(a->normal),
                  vector_of(b->normal), vector_of(c->normal), colour_of(a), colour_of(b), colour_of(c));
    }
}

/* Draws the scene before a grey; rows from below. */
static void render(SceneHandle scene, float grey, unsigned char *rgb)
{
    rt_background(scene, rt_color(grey, grey, grey));
    rt_rawimage_rgb24(scene, rgb);
    rt_renderscene(scene);
}

/* What is brighter before white than before black is the background's share. */
static uint32_t clear_pixel(const unsigned char *on_white, const unsigned char *on_black)
{
    int alpha = 0;
    for (int x = 0; x < 3; x++)
        alpha = 255 - (on_white[x] - on_black[x]) > alpha ? 255 - (on_white[x] - on_black[x]) : alpha;
    alpha = alpha < 255 ? alpha : 255;
    uint32_t pixel = (uint32_t)alpha;
    for (int x = 0; x < 3; x++)
        pixel = pixel << 8 | (uint32_t)(on_black[x] < alpha ? on_black[x] : alpha);
    return pixel;
}

static cairo_surface_t *render_panel(const drawing *d, const surface_view *view)
{
    const int width = d->panel_width, height = d->panel_height;
    const size_t bytes = 3 * (size_t)width * (size_t)height;
    unsigned char *on_white = allocate(bytes, 1), *on_black = allocate(bytes, 1);
    SceneHandle scene = make_scene(d, view);
    add_light(scene);
    add_surface(scene, view);
    render(scene, 1, on_white);
    if (d->picture->is_clear)
        render(scene, 0, on_black);
    rt_deletescene(scene);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    unsigned char *rows = cairo_image_surface_get_data(image);
    for (int y = 0; rows != NULL && y < height; y++)
        for (int x = 0; x < width; x++) {
            const size_t at = 3 * ((size_t)(height - 1 - y) * (size_t)width + (size_t)x);
            const unsigned char *rgb = on_white + at;
            const uint32_t pixel = d->picture->is_clear
                                       ? clear_pixel(rgb, on_black + at)
                                       : 0xff000000u | (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
            memcpy(rows + (size_t)y * (size_t)cairo_image_surface_get_stride(image) + 4 * (size_t)x, &pixel,
                   sizeof pixel);
        }
    cairo_surface_mark_dirty(image);
    free(on_white);
    free(on_black);
    return image;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* The bar, from its lowest value to its highest. */
static void draw_bar_colours(cairo_t *cairo, const ley_colours *colours, double x, double y, double width,
                             double height)
{
    cairo_pattern_t *pattern = cairo_pattern_create_linear(x, 0, x + width, 0);
    enum { STOPS = 64 };
    for (int i = 0; i <= STOPS; i++) {
        const double share = (double)i / STOPS;
        const uint32_t rgb = ley_colours_at(colours, colours->low + share * (colours->high - colours->low));
        cairo_pattern_add_color_stop_rgb(pattern, share, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                                         (rgb & 255) / 255.0);
    }
    cairo_rectangle(cairo, x, y, width, height);
    cairo_set_source(cairo, pattern);
    cairo_fill_preserve(cairo);
    cairo_pattern_destroy(pattern);
    cairo_set_source_rgb(cairo, 0.25, 0.25, 0.25);
    cairo_stroke(cairo);
}

static void draw_bar(cairo_t *cairo, const drawing *d, double y)
{
    const ley_colours *colours = d->picture->colours;
    const double width = bar_length * d->unit, height = bar_height * d->unit, x = (d->picture->width - width) / 2;
    cairo_set_line_width(cairo, fmax(d->unit, 1));
    draw_bar_colours(cairo, colours, canvas_on_pixel(x), canvas_on_pixel(y), round(width), round(height));
    canvas_font(cairo, text_size * d->unit, false);
    const char *minus = canvas_font_has(cairo, "−") ? "−" : "-";
    const double base = y + height + text_gap * d->unit + canvas_cap_height(cairo);
    const tick_marks ticks = ticks_choose(colours->low, colours->high, 5);
    for (int64_t i = 0; i < ticks.count; i++) {
        const double value = (double)(ticks.first + i) * ticks.step;
        const double at = x + width * (value - colours->low) / (colours->high - colours->low);
        canvas_words(cairo, at, base, 0.5, text_of("%s%.4g", value < 0 ? minus : "", fabs(value)).s);
    }
    canvas_words(cairo, d->picture->width / 2.0, base + (text_gap + text_size) * d->unit, 0.5, d->picture->label);
}

static void draw_angle(cairo_t *cairo, const drawing *d, size_t i)
{
    canvas_font(cairo, text_size * d->unit, false);
    const char *degree = canvas_font_has(cairo, "°") ? "°" : " deg";
    canvas_words(cairo, ((double)i + 0.5) * d->panel_width, d->title_height + d->panel_height + text_size * d->unit,
                 0.5, text_of("%g%s", d->picture->angle[i], degree).s);
}

static void draw(cairo_t *cairo, const void *context)
{
    const drawing *d = context;
    const surface_picture *picture = d->picture;
    if (!picture->is_clear) {
        cairo_set_source_rgb(cairo, 1, 1, 1);
        cairo_paint(cairo);
    }
    for (size_t i = 0; i < picture->angle_count; i++) {
        cairo_set_source_surface(cairo, d->panels[i].image, (double)i * d->panel_width, d->title_height);
        cairo_paint(cairo);
    }
    cairo_set_source_rgb(cairo, 0, 0, 0);
    if (picture->title != NULL) {
        canvas_font(cairo, title_size * d->unit, true);
        const double room = picture->width - 2 * margin * d->unit, width = canvas_width(cairo, picture->title);
        if (width > room)
            canvas_font(cairo, title_size * d->unit * room / width, true);
        canvas_words(cairo, picture->width / 2.0, margin * d->unit + canvas_cap_height(cairo), 0.5, picture->title);
    }
    double y = d->title_height + d->panel_height + text_gap * d->unit;
    for (size_t i = 0; picture->angle_count > 1 && i < picture->angle_count; i++)
        draw_angle(cairo, d, i);
    if (picture->angle_count > 1)
        y += (text_size + text_gap) * d->unit;
    if (picture->colours != NULL)
        draw_bar(cairo, d, y);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* One view is four to three; several beside each other are as high as they need. */
static int lay_out(drawing *d)
{
    const surface_picture *picture = d->picture;
    d->unit = picture->width / 1000.0;
    d->panel_width = picture->width / (int)picture->angle_count;
    d->title_height = picture->title != NULL ? floor((margin + title_size) * d->unit) : 0;
    d->foot_height =
        picture->colours != NULL ? floor((bar_height + 2 * text_size + 3 * text_gap + margin / 2) * d->unit) : 0;
    if (picture->angle_count > 1)
        d->foot_height += floor((text_size + text_gap + margin / 2) * d->unit);
    const double usual = 0.75 * picture->width - d->title_height - d->foot_height;
    const double wanted = d->panel_width * d->half_A[1] / d->half_A[0];
    d->panel_height = (int)(picture->angle_count > 1 && wanted < usual ? wanted : usual);
    return (int)lround(0.75 * picture->width - usual + d->panel_height);
}

static ley_status begin_views(drawing *d, ley_error *error)
{
    const ley_surface *surface = d->picture->surface;
    if (ley_surface_triangle_count(surface) > MOST_TRIANGLES)
        return fail_into(error, LEY_ERROR_MEMORY,
                         "the surface has %s triangles, more than the %s of a picture: a larger --spacing makes fewer, "
                         "and .ply or .glb takes all",
                         count_text(ley_surface_triangle_count(surface)).s, count_text(MOST_TRIANGLES).s);
    float *openness = allocate((size_t)ley_surface_vertex_count(surface), sizeof *openness);
    const ley_status status = ley_surface_openness(surface, openness, error);
    for (size_t i = 0; i < d->picture->angle_count && status == LEY_OK; i++) {
        d->panels[i].view = surface_view_make(d->picture, d->picture->angle[i], openness);
        for (int x = 0; x < 2; x++)
            d->half_A[x] = fmax(d->half_A[x], d->panels[i].view.half_A[x]);
    }
    free(openness);
    return status;
}

int surface_picture_write(const surface_picture *picture, const char *path, int *height)
{
    drawing d = {.picture = picture};
    ley_error error = {0};
    const ley_status status = begin_views(&d, &error);
    int code = status == LEY_OK ? 0 : fail_with(&error);
    if (code == 0) {
        *height = lay_out(&d);
        rt_initialize(NULL, NULL);
        for (size_t i = 0; i < picture->angle_count; i++)
            d.panels[i].image = render_panel(&d, &d.panels[i].view);
        rt_finalize();
        code = canvas_write(path, picture->width, *height, picture->dpi, picture->is_clear, draw, &d);
    }
    for (size_t i = 0; i < picture->angle_count; i++) {
        surface_view_end(&d.panels[i].view);
        if (d.panels[i].image != NULL)
            cairo_surface_destroy(d.panels[i].image);
    }
    return code;
}

/* ---- A scene --------------------------------------------------------------------------------- */

/* Triples of all vertices: which of a vertex's, from its first number. */
static void put_triples(FILE *to, const char *title, const surface_view *view, size_t offset, int digits)
{
    fprintf(to, "%s\n", title);
    for (int64_t i = 0; i < ley_surface_vertex_count(view->surface); i++) {
        float v[3];
        memcpy(v, (const char *)&view->vertices[i] + offset, sizeof v);
        fprintf(to, "%.*g %.*g %.*g\n", digits, (double)v[0], digits, (double)v[1], digits, (double)v[2]);
    }
}

static void put_surface(FILE *to, const surface_view *view)
{
    const int32_t *corner = ley_surface_triangles(view->surface);
    fprintf(to, "VertexArray\nNumverts %lld\n", (long long)ley_surface_vertex_count(view->surface));
    put_triples(to, "Coords", view, offsetof(view_vertex, place), 6);
    put_triples(to, "Normals", view, offsetof(view_vertex, normal), 4);
    put_triples(to, "Colors", view, offsetof(view_vertex, colour), 4);
    fprintf(to,
            "Texture Ambient %g Diffuse 1 Specular 0 Opacity 1 Phong Plastic %g Phong_size %g Color 1 1 1 TexFunc 0\n"
            "TriMesh %lld\n",
            view_ambient, view_gloss, view_gloss_exponent, (long long)ley_surface_triangle_count(view->surface));
    for (int64_t i = 0; i < ley_surface_triangle_count(view->surface); i++, corner += 3)
        fprintf(to, "%d %d %d\n", corner[0], corner[2], corner[1]);
    fputs("End_VertexArray\n", to);
}

static void put_scene(FILE *to, const drawing *d)
{
    const surface_view *view = &d->panels[0].view;
    const double pixels_per_A = fmin(0.46 * d->panel_width / d->half_A[0], 0.47 * d->panel_height / d->half_A[1]);
    fprintf(to,
            "Begin_Scene\nResolution %d %d\nShader_Mode Full\nEnd_Shader_Mode\nCamera\nProjection Orthographic\n"
            "Zoom %.8g\nAspectratio 1\nAntialiasing %d\nRaydepth 4\nCenter 0 0 %.8g\nViewdir 0 0 1\nUpdir 0 1 0\n"
            "End_Camera\nBackground 1 1 1\n",
            d->panel_width, d->panel_height, pixels_per_A / d->panel_height, (int)SAMPLES, -2 * view->depth_A - 10);
    fprintf(to, "Directional_Light Direction %g %g %g Color %g %g %g\n", view_light_direction[0],
            view_light_direction[1], view_light_direction[2], view_light_amount, view_light_amount, view_light_amount);
    put_surface(to, view);
    fputs("End_Scene\n", to);
}

static ssize_t write_piece(void *context, const char *bytes, size_t size)
{
    return ley_file_write(context, bytes, size, NULL) == LEY_OK ? (ssize_t)size : 0;
}

int surface_scene_write(const surface_picture *picture, const char *path)
{
    drawing d = {.picture = picture};
    ley_error error = {0};
    ley_file *file = NULL;
    ley_status status = begin_views(&d, &error);
    if (status == LEY_OK)
        status = file_begin(path, &file, &error);
    if (status == LEY_OK) {
        lay_out(&d);
        FILE *to = fopencookie(file, "w", (cookie_io_functions_t){.write = write_piece});
        if (to != NULL)
            put_scene(to, &d);
        if (to == NULL || fclose(to) != 0)
            status = fail_into(&error, LEY_ERROR_FILE, "%s: the scene could not be written", path);
    }
    for (size_t i = 0; i < picture->angle_count; i++)
        surface_view_end(&d.panels[i].view);
    return file_end(file, status, &error);
}
