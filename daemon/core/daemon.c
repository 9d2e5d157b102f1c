/* daemon.c - schedules turns: decisions are made once for each round of the loop. */
#include "daemon/core/daemon.h"

static void on_turn_idle(uv_idle_t *idle)
{
	struct daemon *d = idle->data;

	uv_idle_stop(idle);
	d->ops->run_turn(d);
}

void daemon_init_turns(struct daemon *d)
{
	uv_idle_init(&d->loop, &d->turn_idle);
	d->turn_idle.data = d;
}

void daemon_request_turn(struct daemon *d)
{
	uv_idle_start(&d->turn_idle, on_turn_idle);
}
