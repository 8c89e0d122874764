// SPDX-License-Identifier: GPL-2.0
/* Predicted times of random instances agree with a simulation of each packet.
 */
#include "tree_random.h"
#include "tree_packets.h"

static const char *const networks[] = {
	"bcube:4,1", "bcube:2,3", "bcube:3,2", "ghc:2,5,3", "ghc:7",
	"hyperx:3,2:3", "fbfly:3,2,2",
};

static const char *const all_methods[] = {
	"existing", "unicast", "ars", "irs", "steiner", "mib", "mc", "m2",
	"srs",
};

/* Compute the times of one plan: predicted, and from its packets. */
static bool times(FIXTURE_DATA(instance) *self, const char *method,
		  double *predicted, double *simulated)
{
	struct aggt_err err = { "" };
	struct aggt_plan *plan;

	self->job.method = method;
	plan = aggt_plan_build(self->topo, &self->job, &err);
	if (!plan)
		return false;
	*predicted = aggt_plan_metrics(plan)->time;
	*simulated = packets_time(self->topo, plan);
	aggt_plan_free(plan);
	return true;
}

/*
 * A plan may end so many packets before its predicted time: its queues are
 * short.
 */
#define EARLY 12

/* Draw a job with so many receivers and build it with a random method. */
static bool draw_times(FIXTURE_DATA(instance) *self, uint32_t receivers,
		       bool pipelined, double *predicted, double *simulated)
{
	const char *method = all_methods[rnd(N(all_methods))];

	draw(self, networks[rnd(N(networks))], 1 + rnd(12), receivers);
	self->job.delta = rnd(3) * 0.5;
	if (rnd(2))
		self->job.sizes = self->sizes;
	self->job.packet = 1 / 64.0;
	self->job.pipelined = pipelined;
	if (!times(self, method, predicted, simulated))
		return false;
	if (*simulated < *predicted - EARLY * self->job.packet)
		printf("# %s %s, %zu senders: predicted %g, simulated %g\n",
		       aggt_topo_name(self->topo), method, self->senders.n,
		       *predicted, *simulated);
	return true;
}

/* Servers merge after everything has arrived: the prediction is exact. */
TEST_F_TIMEOUT(instance, stored_flows, 100)
{
	double predicted, simulated;
	unsigned int round;

	for (round = 0; round < 400; round++) {
		ASSERT_TRUE(draw_times(self, 1, false, &predicted,
				       &simulated));
		ASSERT_LE(predicted - EARLY * self->job.packet, simulated);
		ASSERT_GE(predicted + 2 * self->job.packet, simulated);
		discard(self);
	}
}

/* Flows of different sizes that share queues make links wait at times. */
TEST_F_TIMEOUT(instance, pipelined_flows, 100)
{
	double predicted, simulated, most = 0;
	unsigned int round;

	for (round = 0; round < 400; round++) {
		ASSERT_TRUE(draw_times(self, 1, true, &predicted,
				       &simulated));
		ASSERT_LE(predicted - EARLY * self->job.packet, simulated);
		if (simulated / predicted > most)
			most = simulated / predicted;
		discard(self);
	}
	TH_LOG("at most %.3f of the prediction", most);
	EXPECT_GE(1.2, most);
}

/* Trees that wait for each other at two links in turn take longer. */
TEST_F_TIMEOUT(instance, shuffles, 100)
{
	double predicted, simulated, sum = 0;
	unsigned int round, n = 0;

	for (round = 0; round < 200; round++) {
		ASSERT_TRUE(draw_times(self, 2 + rnd(4), rnd(2), &predicted,
				       &simulated));
		ASSERT_LE(predicted - EARLY * self->job.packet, simulated);
		sum += predicted > 0 ? simulated / predicted : 0;
		n += predicted > 0;
		discard(self);
	}
	TH_LOG("on average %.3f of the prediction", sum / n);
	EXPECT_GE(1.15, sum / n);
}

/* Three flows on one link, or one behind the other over three levels. */
TEST_F(instance, examples)
{
	static const aggt_node one_line[] = { 1, 2, 3 };
	static const aggt_node chain[] = { 1, 3, 7 };
	static const aggt_node receiver;
	const struct aggt_metrics *m;
	struct aggt_plan *plan;
	struct aggt_job job = {
		.senders = one_line, .n_senders = 3, .receivers = &receiver,
		.n_receivers = 1, .method = "irs",
		.packet = 0.01,
	};

	self->topo = aggt_topo_parse("ghc:4", NULL);
	plan = aggt_plan_build(self->topo, &job, NULL);
	m = aggt_plan_metrics(plan);
	EXPECT_EQ(3, m->bottleneck);
	EXPECT_EQ(3, m->fan_in);
	EXPECT_EQ(0.02, m->latency);
	EXPECT_EQ(3.01, m->time);
	aggt_plan_free(plan);
	aggt_topo_free(self->topo);
	self->topo = aggt_topo_parse("bcube:2,2", NULL);
	job.senders = chain;
	plan = aggt_plan_build(self->topo, &job, NULL);
	m = aggt_plan_metrics(plan);
	EXPECT_EQ(1, m->bottleneck);
	EXPECT_EQ(1, m->fan_in);
	EXPECT_EQ(0.06, m->latency);
	EXPECT_EQ(3.03, m->time);
	aggt_plan_free(plan);
	job.pipelined = true;
	plan = aggt_plan_build(self->topo, &job, NULL);
	EXPECT_EQ(1.06, aggt_plan_metrics(plan)->time);
	aggt_plan_free(plan);
	aggt_topo_free(self->topo);
}

/* A random network: the slots that a packet takes on each link, 0: no link. */
#define VERTICES 16

static unsigned int link_slots[VERTICES][VERTICES];

static unsigned int slots_of(uint32_t a, uint32_t b)
{
	return link_slots[a][b];
}

/* Links of 8 Gbit/s and fractions of it; one without a rate has the job's. */
static int draw_link(char *text, size_t size, uint32_t a, uint32_t b)
{
	unsigned int slots = 1u << rnd(3);

	if (a == b || link_slots[a][b])
		return 0;
	link_slots[a][b] = slots;
	link_slots[b][a] = slots;
	if (slots == 1)
		return snprintf(text, size, "link n%u n%u\n", a, b);
	return snprintf(text, size, "link n%u n%u %uG\n", a, b, 8 / slots);
}

/* Hosts at switches, some at two, and switches in a row with short cuts. */
static void draw_graph(FIXTURE_DATA(instance) *self)
{
	uint32_t hosts = 4 + rnd(7), n = hosts + 2 + rnd(4), v;
	char text[2048] = "topology graph\n";
	size_t len = strlen(text);
	struct aggt_err err;

	memset(link_slots, 0, sizeof(link_slots));
	for (v = 0; v < n; v++)
		len += snprintf(text + len, sizeof(text) - len, "%s n%u\n",
				v < hosts ? "host" : "switch", v);
	for (v = hosts + 1; v < n; v++)
		len += draw_link(text + len, sizeof(text) - len, v, v - 1);
	for (v = 0; v < n + hosts / 2; v++)
		len += draw_link(text + len, sizeof(text) - len, v % n,
				 hosts + rnd(n - hosts));
	self->topo = aggt_topo_describe(text, &err);
	draw_members(self, 1 + rnd(hosts), 1);
	for (v = 0; v < self->senders.n; v++)
		self->sizes[v] = rnd(5) * 0.5;
}

static bool rated_times(FIXTURE_DATA(instance) *self, bool pipelined,
			double *predicted, double *simulated)
{
	static const char *const method[] = {
		"existing", "unicast", "steiner", "getparent",
	};
	struct aggt_plan *plan;

	draw_graph(self);
	self->job.method = method[rnd(N(method))];
	self->job.delta = rnd(3) * 0.5;
	if (rnd(2))
		self->job.sizes = self->sizes;
	self->job.packet = 1 / 64.0;
	self->job.pipelined = pipelined;
	self->job.rate = 8000000000ull;
	plan = aggt_plan_build(self->topo, &self->job, NULL);
	if (!plan)
		return false;
	*predicted = aggt_plan_metrics(plan)->time;
	*simulated = packets_time_by(self->topo, plan, slots_of);
	aggt_plan_free(plan);
	return true;
}

/* Between hops queues may grow that the prediction does not include. */
TEST_F_TIMEOUT(instance, links_of_unlike_rates, 100)
{
	double predicted, simulated, most = 0, sum = 0;
	unsigned int round, n = 0;

	for (round = 0; round < 400; round++) {
		ASSERT_TRUE(rated_times(self, round % 2, &predicted,
					&simulated));
		ASSERT_LE(predicted - 4 * EARLY * self->job.packet, simulated);
		if (predicted > 0) {
			most = fmax(most, simulated / predicted);
			sum += simulated / predicted;
			n++;
		}
		discard(self);
	}
	TH_LOG("on average %.3f of the prediction, at most %.3f", sum / n,
	       most);
	EXPECT_GE(1.05, sum / n);
	EXPECT_GE(1.5, most);
}

/* A description states rates; links without one have the job's. */
TEST_F(instance, rates_of_links)
{
	static const aggt_node senders[] = { 0, 1 }, receiver = 2;
	struct aggt_job job = {
		.senders = senders, .n_senders = 2, .receivers = &receiver,
		.n_receivers = 1, .method = "unicast", .packet = 0.01,
		.pipelined = true,
	};
	const struct aggt_metrics *m;
	struct aggt_plan *plan;

	self->topo = aggt_topo_describe("topology graph\nhost a\nhost b\nhost c\n"
					"switch s\nlink a s 1G\nlink b s\n"
					"link c s 10G\n", NULL);
	ASSERT_NE(NULL, self->topo);
	EXPECT_EQ(10000000000ull, aggt_topo_rate(self->topo));
	plan = aggt_plan_build(self->topo, &job, NULL);
	m = aggt_plan_metrics(plan);
	EXPECT_EQ(10, m->bottleneck);
	EXPECT_EQ(1, m->busiest);
	EXPECT_GE(1e-9, fabs(m->latency - 0.11));
	EXPECT_GE(1e-9, fabs(m->time - 10.11));
	aggt_plan_free(plan);
	/* Times are in units of the job's rate. */
	job.rate = 1000000000ull;
	job.pipelined = false;
	plan = aggt_plan_build(self->topo, &job, NULL);
	m = aggt_plan_metrics(plan);
	EXPECT_GE(1e-9, fabs(m->bottleneck - 1));
	EXPECT_GE(1e-9, fabs(m->time - 1.01));
	aggt_plan_free(plan);
	aggt_topo_free(self->topo);
}

/* The same tree with switches that copy. Return: its plan, or NULL. */
static struct aggt_plan *with_copies(FIXTURE_DATA(instance) *self,
				     const struct aggt_plan *plan)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan, 0);
	size_t i, n = aggt_tree_size(tree);
	struct aggt_edge *edge = calloc(n, sizeof(*edge));
	struct aggt_shape shape = { .edge = edge, .n_edges = n - 1,
				    .entry = AGGT_NONE };
	struct aggt_plan *copied;

	for (i = 1; i < n; i++)
		edge[i - 1] = (struct aggt_edge){
			aggt_tree_server(tree, i),
			aggt_tree_server(tree, aggt_tree_parent(tree, i)),
		};
	self->job.copies = true;
	copied = aggt_plan_restore(self->topo, &self->job, &shape, NULL);
	self->job.copies = false;
	free(edge);
	return copied;
}

static void draw_tree(FIXTURE_DATA(instance) *self, bool pipelined)
{
	static const char *const nets[] = {
		"bcube:4,1", "bcube:3,2", "ghc:4,3", "ghc:2,4,2", "ghc:5,2",
	};

	draw(self, nets[rnd(N(nets))], 3 + rnd(7), 1);
	self->job.method = rnd(4) ? "auto" : "steiner";
	self->job.delta = rnd(3) * 0.5;
	self->job.objective = AGGT_TIME;
	self->job.packet = 1 / 64.0;
	self->job.pipelined = pipelined;
}

/* The copies of switches with Bloom tables take the time that is predicted. */
TEST_F_TIMEOUT(instance, copies, 100)
{
	double predicted, simulated, most = 0, sum = 0;
	unsigned int round, delayed = 0;

	for (round = 0; round < 300; round++) {
		struct aggt_plan *bare, *copied;

		draw_tree(self, round % 2);
		bare = aggt_plan_build(self->topo, &self->job, NULL);
		ASSERT_NE(NULL, bare);
		copied = with_copies(self, bare);
		ASSERT_NE(NULL, copied);
		predicted = aggt_plan_metrics(copied)->time;
		simulated = packets_time(self->topo, copied);
		EXPECT_GE(predicted + 1e-9, aggt_plan_metrics(bare)->time);
		if (predicted > aggt_plan_metrics(bare)->time * 1.01) {
			delayed++;
			sum += simulated / predicted;
			most = fmax(most, simulated / predicted);
		}
		aggt_plan_free(copied);
		aggt_plan_free(bare);
		discard(self);
	}
	TH_LOG("%u of %u delayed; on average %.3f of the prediction, at most %.3f",
	       delayed, round, sum / delayed, most);
	EXPECT_GE(delayed, 40);
	EXPECT_GE(sum / delayed, 0.9);
	EXPECT_GE(1.1, most);
}

/* Auto avoids the copies that its trees for other switches would cause. */
TEST_F_TIMEOUT(instance, trees_without_copies, 100)
{
	double chosen_sum = 0, copied_sum = 0;
	unsigned int round, sooner = 0;

	for (round = 0; round < 100; round++) {
		struct aggt_plan *bare, *copied, *chosen;
		double time, other;

		draw_tree(self, round % 2);
		self->job.method = "auto";
		bare = aggt_plan_build(self->topo, &self->job, NULL);
		ASSERT_NE(NULL, bare);
		copied = with_copies(self, bare);
		ASSERT_NE(NULL, copied);
		self->job.copies = true;
		chosen = aggt_plan_build(self->topo, &self->job, NULL);
		ASSERT_NE(NULL, chosen);
		time = aggt_plan_metrics(chosen)->time;
		other = aggt_plan_metrics(copied)->time;
		EXPECT_GE(1.02 * packets_time(self->topo, chosen),
			  0.9 * time);
		sooner += time < other - 1e-9;
		chosen_sum += time;
		copied_sum += other;
		aggt_plan_free(bare);
		aggt_plan_free(copied);
		aggt_plan_free(chosen);
		discard(self);
	}
	TH_LOG("%u of %u end sooner; all take %.3f of the time", sooner, round,
	       chosen_sum / copied_sum);
	EXPECT_GE(sooner, 15);
	EXPECT_GE(0.9, chosen_sum / copied_sum);
}

/* A switch makes four copies, so a packet may miss the fifth link. */
TEST_F(instance, too_many_copies)
{
	struct aggt_err err;

	self->topo = aggt_topo_parse("bcube:8,1", NULL);
	draw_members(self, 40, 1);
	self->job.packet = 1 / 64.0;
	self->job.method = "stripes:2";
	self->job.copies = true;
	EXPECT_EQ(NULL, aggt_plan_build(self->topo, &self->job, &err));
	EXPECT_NE(NULL, strstr(err.text, "leaves it by more than 4 links"));
	discard(self);
}

TEST_HARNESS_MAIN
