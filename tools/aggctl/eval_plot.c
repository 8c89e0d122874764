// SPDX-License-Identifier: GPL-2.0
/* Plots an experiment like the papers' figures, by gnuplot. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "aggctl.h"
#include "eval.h"

static const char *terminal(const char *file)
{
	const char *dot = strrchr(file, '.');

	if (dot && !strcmp(dot, ".svg"))
		return "svg size 640,480 dynamic";
	if (dot && !strcmp(dot, ".png"))
		return "png size 640,480";
	return NULL;
}

/* A gnuplot string: quotes are doubled. */
static void quote(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', f);
		fputc(*text, f);
	}
	fputc('\'', f);
}

static void curves(FILE *f, const struct eval_result *r)
{
	size_t i, k;

	for (k = 0; k < r->n_methods; k++) {
		fprintf(f, "%s '-' using 1:2 with linespoints title ",
			k ? "," : "plot");
		quote(f, r->eval->method[k].name);
	}
	fputc('\n', f);
	for (k = 0; k < r->n_methods; k++) {
		for (i = 0; i < r->n_settings; i++) {
			const struct eval_point *p;

			p = &r->point[i * r->n_methods + k];
			if (isfinite(p->sum[EVAL_COST]))
				fprintf(f, "%g %g\n", r->setting[i].x,
					p->sum[EVAL_COST] / r->rounds);
		}
		fputs("e\n", f);
	}
}

int eval_plot(const struct eval_result *r, const char *file)
{
	const char *term = terminal(file);
	int status;
	FILE *f;

	if (!term)
		return usage("eval: --plot: '%s' ends in neither .svg nor .png",
			     file);
	f = popen("gnuplot", "w");
	if (!f)
		return fail("eval: gnuplot: %s", strerror(errno));
	fprintf(f, "set terminal %s\nset output ", term);
	quote(f, file);
	fputs("\nset title ", f);
	quote(f, r->eval->title);
	fputs(" noenhanced\nset xlabel ", f);
	quote(f, r->eval->xlabel);
	fputs("\nset ylabel 'network traffic'\nset key top left\nset grid\n", f);
	curves(f, r);
	status = pclose(f);
	if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status))
		return fail("eval: gnuplot could not draw %s; is it installed?",
			    file);
	return ST_DONE;
}
