# SPDX-License-Identifier: GPL-2.0
# The files of aggctl without main(), by folder: libaggctl.a, which aggctl and
# the tests link.
AGGCTL := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

AGGCTL_SRC := addr.c addressing.c echo.c error.c files.c info.c monotonic.c names.c \
	      neighbour.c netns.c node.c output.c release.c route.c value.c
AGGCTL_SRC += $(addprefix cmd/,apply_held.c apply_hosts.c bcast.c cmd_apply.c cmd_bcast.c cmd_describe.c \
	      cmd_eval.c \
	      cmd_export.c cmd_gen.c \
	      cmd_host.c cmd_job.c cmd_link.c cmd_monitor.c cmd_node.c cmd_plan.c cmd_port.c cmd_probe.c \
	      cmd_recv.c \
	      cmd_send.c cmd_stats.c cmd_supervise.c cmd_testbed.c cmd_top.c cmd_tree.c \
	      cmd_why.c \
	      ctl_open.c diagnosis.c fallback.c geometry.c hosts_options.c job_client.c load.c options.c ping.c plan_find.c \
	      racks.c rewind.c sync.c text_record.c top.c \
	      transfer_stats.c why_hosts.c why_text.c)
AGGCTL_SRC += $(addprefix eval/,eval.c eval_filter.c eval_out.c eval_peer.c \
	      eval_plot.c eval_run.c eval_table.c eval_update.c)
AGGCTL_SRC += $(addprefix host/,check_reach.c describe.c firewall.c firewall_nft.c firewall_old.c \
	      firewall_rules.c host.c host_description.c net.c net_warn.c node_check.c \
	      report.c report_net.c sockets.c)
AGGCTL_SRC += $(addprefix plan/,plan.c plan_addr.c plan_dot.c plan_drawing.c \
	      plan_file.c plan_filter.c plan_id.c plan_install.c plan_json.c plan_links.c \
	      plan_nodes.c \
	      plan_part.c plan_restore.c plan_store.c plan_text.c plan_time.c \
	      plan_traffic.c plan_update.c)
AGGCTL_SRC += $(addprefix remote/,ask.c hosts.c remote.c)
AGGCTL_SRC += $(addprefix supervise/,link_watch.c presence.c supervise.c supervise_post.c \
	      supervise_repair.c supervise_resume.c)
AGGCTL_SRC += $(addprefix testbed/,rtnl.c rtnl_msg.c rtnl_qdisc.c testbed.c \
	      testbed_attach.c testbed_entries.c testbed_part.c testbed_route.c testbed_shape.c \
	      testbed_state.c testbed_traffic.c testbed_up.c)

# What a program that includes aggctl's headers needs.
AGGCTL_INCLUDE := -I$(AGGCTL) -I$(AGGCTL)/../libaggtree -I$(AGGCTL)/../libaggnet

# The archive depends on these.
AGGCTL_FILES := $(AGGCTL_SRC:%=$(AGGCTL)/%) \
		$(wildcard $(AGGCTL)/*.h $(AGGCTL)/*/*.h $(AGGCTL)/../lib*/agg*.h)
