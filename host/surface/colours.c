/* K. Moreland, "Diverging Color Maps for Scientific Visualization", ISVC 2009: straight lines in
 * Msh space, the polar form of CIELAB, from either end to white, so that equal steps look equal and
 * no band stands out. */
#include "leyden.h"

#include "core/units.h"

#include <math.h>

enum { steps = sizeof((ley_colours *)0)->steps / sizeof(uint32_t), not_a_number = 0x707070 };

typedef struct triple {
    double v[3];
} triple;

static const double white_D65[3] = {0.95047, 1.0, 1.08883};

static double linear_of_srgb(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double srgb_of_linear(double c)
{
    return c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
}

static double lab_curve(double t)
{
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static double lab_curve_inverse(double t)
{
    return t > 0.206893 ? t * t * t : (t - 16.0 / 116) / 7.787;
}

static triple msh_of_rgb(int red, int green, int blue)
{
    double r = linear_of_srgb(red / 255.0), g = linear_of_srgb(green / 255.0), b = linear_of_srgb(blue / 255.0);
    double x = lab_curve((0.4124 * r + 0.3576 * g + 0.1805 * b) / white_D65[0]);
    double y = lab_curve((0.2126 * r + 0.7152 * g + 0.0722 * b) / white_D65[1]);
    double z = lab_curve((0.0193 * r + 0.1192 * g + 0.9505 * b) / white_D65[2]);
    double lightness = 116 * y - 16, a_star = 500 * (x - y), b_star = 200 * (y - z);
    double magnitude = sqrt(lightness * lightness + a_star * a_star + b_star * b_star);
    return (triple){{magnitude, acos(lightness / magnitude), atan2(b_star, a_star)}};
}

static uint32_t rgb_of_msh(triple msh)
{
    double lightness = msh.v[0] * cos(msh.v[1]);
    double a_star = msh.v[0] * sin(msh.v[1]) * cos(msh.v[2]), b_star = msh.v[0] * sin(msh.v[1]) * sin(msh.v[2]);
    double fy = (lightness + 16) / 116;
    double x = white_D65[0] * lab_curve_inverse(fy + a_star / 500);
    double y = white_D65[1] * lab_curve_inverse(fy);
    double z = white_D65[2] * lab_curve_inverse(fy - b_star / 200);
    double linear[3] = {3.2406 * x - 1.5372 * y - 0.4986 * z, -0.9689 * x + 1.8758 * y + 0.0415 * z,
                        0.0557 * x - 0.2040 * y + 1.0570 * z};
    uint32_t rgb = 0;
    for (int i = 0; i < 3; i++)
        rgb = rgb << 8 | (uint32_t)lround(255 * fmin(fmax(srgb_of_linear(linear[i]), 0), 1));
    return rgb;
}

/* Hue that white takes next to a saturated colour: turned away from it, or the mixture would look
 * dull. */
static double hue_at_white(triple saturated, double magnitude_white)
{
    double m = saturated.v[0], s = saturated.v[1], hue = saturated.v[2];
    if (m >= magnitude_white)
        return hue;
    double turn = s * sqrt(magnitude_white * magnitude_white - m * m) / (m * sin(s));
    return hue > -1.0471975512 ? hue + turn : hue - turn;
}

double ley_colours_usual_limit(const char *units)
{
    const double limit_kT_e = 5, temperature_K = 298.15, per_hartree = units_per_hartree(units, temperature_K);
    return per_hartree > 0 ? limit_kT_e * per_hartree / units_per_hartree("kT/e", temperature_K) : limit_kT_e;
}

void ley_colours_make(ley_colours *colours, double low, double high)
{
    static const double magnitude_white = 95;
    const triple ends[2] = {msh_of_rgb(180, 4, 38), msh_of_rgb(59, 76, 192)};
    colours->low = low;
    colours->high = high;
    for (int i = 0; i < steps; i++) {
        double t = 2.0 * i / (steps - 1) - 1, strength = fabs(t);
        triple end = ends[t > 0], msh;
        double white[3] = {magnitude_white, 0, hue_at_white(end, magnitude_white)};
        for (int k = 0; k < 3; k++)
            msh.v[k] = strength * end.v[k] + (1 - strength) * white[k];
        colours->steps[i] = rgb_of_msh(msh);
    }
}

uint32_t ley_colours_at(const ley_colours *colours, double value)
{
    if (isnan(value))
        return not_a_number;
    double limit = fmax(fabs(colours->low), fabs(colours->high));
    double t = fmin(fmax(value, colours->low), colours->high) / limit;
    return colours->steps[lround(0.5 * (t + 1) * (steps - 1))];
}
