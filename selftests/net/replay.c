// SPDX-License-Identifier: GPL-2.0
/* An application of a crew that uses libaggnet and repeats its work in a newer
 * epoch.
 */
#include <errno.h>
#include <string.h>

#include <aggnet_data.h>

#include "crew.h"

static int add(struct app *app, struct aggnet_source *s)
{
	uint8_t key[255];
	int err = 0;

	memset(key, 'k', sizeof(key));
	for (app->done = 0; !err && app->done < app->records; app->done++) {
		uint32_t number = app->first + app->done;

		if (app->pause && app->done == app->pause) {
			app_wait(app);
			if (app->quits)
				return -ECONNABORTED;
		}
		memcpy(key, &number, sizeof(number));
		err = aggnet_source_add(s, key, app->klen ?: 12,
					app_value(app, number));
	}
	return err ?: aggnet_source_finish(s);
}

static int source(struct app *app, const struct aggnet_options *opt)
{
	struct aggnet_source *s;
	int err;

	err = aggnet_source_open(&s, (struct in_addr){ app->receiver },
				 app->job, opt);
	if (!err)
		do
			err = add(app, s);
		while (err == -ESTALE);
	if (err)
		aggnet_source_status(s, &app->status);
	app->again = aggnet_source_resent(s);
	aggnet_source_close(s);
	return -err;
}

static void keep(struct app *app, const struct aggnet_sink *k)
{
	const struct aggnet_result *result = aggnet_sink_result(k);
	const struct in_addr *absent;
	size_t n;

	app->end = (struct aggnet_end) {
		.sources = result->sources, .of = result->of,
		.partials = result->partials, .absent = result->absent,
		.records = result->records,
	};
	absent = aggnet_sink_absent(k, &n);
	app->absent = n ? absent->s_addr : 0;
}

static int read_all(struct app *app, struct aggnet_sink *k)
{
	struct aggnet_entry entry;
	int err = aggnet_sink_run(k);

	app_forget(app);
	if (err)
		return err;
	while (aggnet_sink_next(k, &entry)) {
		app_take(app, entry.key, (uint64_t)entry.value);
		app->done++;
	}
	keep(app, k);
	return aggnet_sink_commit(k);
}

static int sink(struct app *app, const struct aggnet_options *opt)
{
	struct aggnet_sink *k;
	int err;

	err = aggnet_sink_open(&k, (struct in_addr){ app->receiver }, app->job,
			       opt);
	if (!err && app->quits) {
		app_wait(app);
		err = -EPIPE;
	}
	if (!err)
		do
			err = read_all(app, k);
		while (err == -ESTALE);
	if (err)
		aggnet_sink_status(k, &app->status);
	aggnet_sink_close(k);
	return -err;
}

int app_replays(struct app *app)
{
	const struct aggnet_options opt = {
		.flags = AGGNET_OPT_REPLAY, .repair_ms = app->repair,
	};

	return app->reader ? sink(app, &opt) : source(app, &opt);
}
