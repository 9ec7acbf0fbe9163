/* A picture of local correlations along the sequence. */
#ifndef LEYDEN_LOCAL_PICTURE_H
#define LEYDEN_LOCAL_PICTURE_H

/* Of windows, one after the other; `what`: "residue". Not-a-numbers are gaps. Exit code. */
int local_picture_write(const double *pearson, int count, const char *what, const char *title, const char *path);

#endif
