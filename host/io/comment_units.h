/* The units that a map's comment tells. */
#ifndef LEY_IO_COMMENT_UNITS_H
#define LEY_IO_COMMENT_UNITS_H

enum { COMMENT_UNITS = 32 }; /* room for them, as ley_map_units() has it */

/* What stands in parentheses behind the word "potential", in any case; where nothing does, `units`
 * stay as they are. */
void comment_units_find(const char *comment, char units[COMMENT_UNITS]);

#endif
