/* live.js - keeps what is shown up to date, and says so when it cannot. */
import { Refusal, Unreachable } from "/api.js";
import { hour } from "/text.js";

const APART = 300;         /* ms between two refreshes, at least; and as long as the last one took */
const POLL = 2000;         /* ms: progress of running trials is no event */
const RETRY = [1, 2, 5, 10]; /* seconds until dpareto-serve is asked again */
const BACK = 8000;         /* ms that it is said that all is well again */

/* ---- whether there is somebody to ask ---- */

const gone = { server: null, daemon: null }; /* since when */
let asOf = null;                             /* of what is shown */
let backTimer;

function awayText() {
	const since = gone.server ?? gone.daemon;
	const who = gone.server ? "dpareto-serve does not answer since" : "The daemon is away since";

	if (!since)
		return "";
	return `${who} ${hour(since)}; ` + (asOf ? `what is shown is as of ${hour(asOf)}.` :
		"nothing can be shown yet.") + " This page goes on by itself.";
}

function put(id, text) {
	const place = document.getElementById(id);

	if (place.textContent !== text)
		place.textContent = text;
}

function showConnection() {
	const live = document.getElementById("live");
	const well = !gone.server && !gone.daemon;

	put("away", awayText());
	put("live", well ? "live" : "not live");
	live.className = well ? "good" : "bad";
	document.body.classList.toggle("stale", !well);
}

/* Notes whether the server or the daemon is there; true if it has come back. */
function note(who, there) {
	const was = gone[who];

	if (there === !was)
		return false;
	gone[who] = there ? null : new Date();
	if (there && !gone.server && !gone.daemon) {
		put("back", `${who === "server" ? "dpareto-serve" : "The daemon"} is back since ` +
			`${hour(new Date())}.`);
		clearTimeout(backTimer);
		backTimer = setTimeout(() => put("back", ""), BACK);
	} else if (!there) {
		put("back", "");
	}
	showConnection();
	return there;
}

/* ---- refreshes: one at a time, not too often ---- */

class Refresher {
	constructor(work) {
		this.work = work;
		this.busy = this.wanted = false;
		this.timer = null;
		this.next = 0;
	}

	ask() {
		this.wanted = true;
		if (!this.busy && !this.timer)
			this.timer = setTimeout(() => this.run(),
				Math.max(0, this.next - performance.now()));
	}

	async run() {
		this.timer = null;
		this.busy = true;
		this.wanted = false;
		const began = performance.now();
		try {
			await this.work();
		} finally {
			const took = performance.now() - began;

			this.next = began + Math.max(APART, 2 * took);
			this.busy = false;
			if (this.wanted)
				this.ask();
		}
	}
}

/* ---- the events ---- */

class Events {
	constructor(heard) {
		this.heard = heard;
		this.source = this.timer = null;
		this.tries = 0;
	}

	open() {
		if (this.source || document.hidden)
			return;
		clearTimeout(this.timer);
		this.source = new EventSource("/api/events");
		this.source.onopen = () => {
			this.tries = 0;
			this.heard.server(true);
		};
		this.source.onerror = () => this.again();
		for (const kind of ["study", "daemon"])
			this.source.addEventListener(kind, (event) =>
				this.heard[kind](JSON.parse(event.data)));
	}

	/* The browser's own retries end at the first answer that is no stream. */
	again() {
		const wait = RETRY[Math.min(this.tries++, RETRY.length - 1)];

		this.close();
		this.heard.server(false);
		this.timer = setTimeout(() => this.open(), wait * 1000);
	}

	close() {
		clearTimeout(this.timer);
		this.source?.close();
		this.source = null;
	}
}

/* Follows a view: {refresh(), details(), concerns(study), polls(), deleted(study)}; details()
 * is what may take longer than the next refresh. `refused` hears of answers that are none. */
export function follow(view, refused) {
	async function work(part) {
		if (document.hidden || gone.daemon || gone.server)
			return;
		try {
			await part();
			asOf = new Date();
			refused(null);
		} catch (error) {
			if (view.gone)
				return; /* it was deleted while this was asked */
			if (error.kind === "no-daemon")
				note("daemon", false);
			else if (error instanceof Unreachable)
				events.again();
			else if (error instanceof Refusal)
				refused(error);
			else
				throw error; /* a mistake in this page */
		}
	}
	const details = new Refresher(() => work(() => view.details?.()));
	const refresher = new Refresher(() => work(async () => {
		await view.refresh();
		details.ask();
	}));
	const events = new Events({
		server(there) {
			if (note("server", there))
				refresher.ask();
		},
		daemon({ there }) {
			if (note("daemon", there))
				refresher.ask();
		},
		study({ study, version }) {
			if (!view.concerns(study))
				return;
			note("daemon", true);
			if (version === null)
				view.deleted?.(study);
			refresher.ask();
		},
	});

	document.addEventListener("visibilitychange", () => {
		if (document.hidden) {
			events.close();
		} else {
			events.open();
			refresher.ask();
		}
	});
	addEventListener("pagehide", () => events.close());
	addEventListener("pageshow", () => events.open());
	setInterval(() => {
		if (view.polls())
			refresher.ask();
	}, POLL);
	showConnection();
	events.open();
	refresher.ask();
}
