/* trial.js - one trial: its settings, what it came to, its attempts, its log. */
import { get, studyApi } from "/api.js";
import { give } from "/control.js";
import { element, show } from "/dom.js";
import { Log } from "/log.js";
import { badge, bytes, details, duration, number, objective, SECRET, time, trialLink, trialName, trialPage } from "/text.js";

function table(caption, heads, rows) {
	return element("div", { class: "table", role: "region", tabindex: "0", "aria-label": caption },
		element("table", null, element("caption", null, caption),
			element("thead", null, element("tr", null,
				heads.map((head) => element("th", { scope: "col" }, head)))),
			element("tbody", null, rows)));
}

function cells(...values) {
	return values.map((value) => element("td", null, value ?? "-"));
}

function fold(key, title, ...inside) {
	return element("section", { "data-key": key }, element("h2", null, title), ...inside);
}

function head(t, study) {
	const whole = { trial: t.trial };

	return element("div", { class: "head" },
		element("p", { class: "state-line" }, badge(t.state),
			[t.on_front ? "on the front" : null,
			 t.feasible === false ? "does not meet the constraints" : null,
			 t.source ? `found by: ${t.source}` : null,
			 t.seconds ? `took ${duration(t.seconds)}` : null].filter(Boolean).join(", ")),
		t.reason ? element("p", { class: "callout" }, t.reason) : null,
		t.at !== null ? element("p", null, "A waypoint of ", trialLink(study, whole),
			", which has the attempts and the log.") : null,
		t.started ? element("p", { class: "soft" }, "started ", time(t.started),
			t.ended ? [", ended ", time(t.ended)] : null) : null);
}

function remeasured(t, summary) {
	const again = t.remeasured;

	return again ? element("p", null, `Measured again with ${again.runs} fresh runs: `,
		Object.entries(again.objectives).map(([name, x]) =>
			`${name} ${objective(summary, name, x)}`).join(", ")) : null;
}

function attempts(t) {
	if (!t.attempts.length)
		return null;
	return fold("attempts", "Attempts", table("Attempts of this trial",
		["attempt", "run", "end", "message", "exit", "started", "took", "processor", "memory"],
		t.attempts.map((a) => element("tr", { "data-key": `${a.attempt}/${a.run ?? ""}` },
			cells(a.attempt, a.run, badge(a.end ?? "running"),
				element("span", { class: "message" }, a.message ?? "-"),
				a.signal ? `signal ${a.signal}` : a.exit_code, time(a.started),
				a.started && a.ended ?
					duration((Date.parse(a.ended) - Date.parse(a.started)) / 1000) : "-",
				typeof a.cpu_seconds === "number" ? duration(a.cpu_seconds) : "-",
				typeof a.peak_memory === "number" ? bytes(a.peak_memory) : "-")))));
}

function runs(t) {
	const names = [...new Set(t.runs.flatMap((r) => Object.keys(r.metrics ?? {})))];

	if (!t.runs.length)
		return null;
	return fold("runs", "Runs", table("What each run reported", ["run", ...names, "seed"],
		t.runs.map((r) => element("tr", { "data-key": r.run },
			cells(r.run, ...names.map((name) => number(r.metrics?.[name])), r.seed === null ? SECRET : String(r.seed))))));
}

function waypoints(t, study, summary) {
	if (!t.waypoints?.length)
		return null;
	return fold("waypoints", "Waypoints", table("What it reached on its way",
		["waypoint", ...summary.objectives],
		t.waypoints.map((w) => element("tr", { "data-key": w.at },
			element("td", null, w.dropped ? `${t.trial}@${w.at} (no result)` :
				element("a", { href: trialPage(study, { trial: t.trial, at: w.at }) },
					trialName({ trial: t.trial, at: w.at }))),
			cells(...summary.objectives.map((name) =>
				objective(summary, name, w.objectives?.[name])))))));
}

class TrialView {
	constructor(main, study, trial, session) {
		Object.assign(this, { main, study, trial, session, log: null });
		main.addEventListener("click", (event) => this.click(event));
	}

	concerns(study) {
		return study === this.study;
	}

	polls() {
		return this.current?.state === "running" || this.current?.state === "waiting";
	}

	async refresh() {
		const [status, t] = await Promise.all([get(`${studyApi(this.study)}?front=first`),
			get(studyApi(this.study, `/trials/${encodeURIComponent(this.trial)}`))]);

		this.current = t;
		document.title = `trial ${trialName(t)} of ${this.study} - DPareto`;
		show(this.main, this.page(t, status.study));
		if (t.at === null && t.attempts.length) {
			this.log ??= new Log(document.getElementById("log"), this.study, this.trial);
			this.log.offer(t.attempts);
		}
	}

	page(t, summary) {
		const again = this.session.control && t.on_front && !summary.selection;

		return [
			element("h1", null, `Trial ${trialName(t)}`,
				element("span", { class: "soft" }, ` of ${this.study}`)),
			head(t, this.study),
			element("div", { class: "card", "data-key": "settings" }, details(summary, t),
				remeasured(t, summary),
				again ? element("p", { class: "buttons" }, element("button", { type: "button",
					"data-order": "enqueue" }, "Run these settings again …")) : null,
				element("div", { id: "told", "data-keep": true })),
			t.at === null && t.attempts.length ? fold("log", "Log",
				element("div", { id: "log", "data-keep": true })) : null,
			attempts(t), waypoints(t, this.study, summary), runs(t),
		];
	}

	click(event) {
		if (event.target.closest("button[data-order]"))
			give(document.getElementById("told"), "enqueue", this.study,
				{ parameters: this.current.parameters });
	}
}

export function trialView(main, study, trial, session) {
	return new TrialView(main, study, trial, session);
}
