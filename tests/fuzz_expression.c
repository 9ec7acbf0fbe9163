/* libFuzzer: any bytes as a pair function. Build: clang -fsanitize=fuzzer,address,undefined. */
#include "fuzz.h"

#include "expression/check.h"
#include "expression/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const expression_constant constants[] = {{"cutoff", 12}, {"eps", 78.54}};
static const size_t constant_count = sizeof constants / sizeof *constants;

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_source(const expression *e)
{
    static const char head[] =
        "LEY_FN real ley_user_pair(real r, real r2, real inverse_r, real q, LEY_REFERENCE(own_numbers) own)\n{\n    ";
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzLEYFNRXPOGSQTCIAHBMDW_0123456789.,;=()+-*/ \n";
    const char *source = expression_source(e);
    require(strncmp(source, head, strlen(head)) == 0);
    const char *body = source + strlen(head), *end = body + strspn(body, allowed);
    require(strcmp(end, "}\n") == 0 && end > body && strstr(body, "//") == NULL && strstr(body, "/*") == NULL);
    require(strstr(body, "inf;") == NULL && strstr(body, "inf)") == NULL && strstr(body, "nan") == NULL);
    int depth = 0;
    for (const char *c = body; c < end; c++) {
        depth += (*c == '(') - (*c == ')');
        require(depth >= 0 && depth < 64 && (*c != ';' || depth == 0));
    }
}

/* What its text is read back as is the same expression. */
static void check_text(const expression *e)
{
    const char *text = expression_text(e);
    expression *again = NULL;
    ley_error error = {0};
    if (expression_create(text, strlen(text), constants, constant_count, &again, &error) == LEY_OK) {
        require(strcmp(expression_text(again), text) == 0);
        for (double r_A = 0.05; r_A < 20; r_A *= 3)
            require(is_same(expression_evaluate(again, r_A, -0.5), expression_evaluate(e, r_A, -0.5)));
    } else {
        /* Numbers in the place of names make it longer, ^ in the place of pow() deeper. */
        require(strlen(text) > EXPRESSION_MAX_LENGTH || strstr(error.message, "nested deeper") != NULL);
    }
    expression_destroy(again);
    ley_error_clear(&error);
}

/* What the check lets pass has a value that can be summed at every distance; what it refuses is
 * named. */
static void check_span(const expression *e)
{
    const expression_span span = {.low_A = 0.05, .high_A = 12, .q_e = 1, .most_value = 1e33, .nothing_value = 1e-33};
    ley_error error = {0};
    if (expression_check(e, &span, &error) == LEY_OK) {
        for (int i = 0; i <= 1000; i++)
            require(fabs(expression_evaluate(e, span.low_A + (span.high_A - span.low_A) * i / 1000, 1)) <=
                    span.most_value);
    } else {
        require(error.status == LEY_ERROR_USAGE && strstr(error.message, "pair function: at r = ") == error.message);
    }
    ley_error_clear(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy without a terminator: reading beyond it shows. */
    char *text = malloc(size + (size == 0));
    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    expression *e = NULL;
    ley_error error = {0};
    const ley_status status = expression_create(text, size, constants, constant_count, &e, &error);
    free(text);
    if (status != LEY_OK) {
        static const char head[] = "pair function, column ";
        require(e == NULL && status == LEY_ERROR_USAGE && error.status == status);
        require(strncmp(error.message, head, strlen(head)) == 0);
        const size_t column = strtoul(error.message + strlen(head), NULL, 10);
        require(column >= 1 && column <= size + 1 && column <= EXPRESSION_MAX_LENGTH + 1);
        ley_error_clear(&error);
        return 0;
    }
    check_source(e);
    check_text(e);
    check_span(e);
    expression_destroy(e);
    return 0;
}
