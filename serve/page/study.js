/* study.js - one study, live. */
import { get, studyApi } from "/api.js";
import { give, ordersOf } from "/control.js";
import { element, say, show } from "/dom.js";
import { Figure } from "/figure.js";
import { Recommend } from "/recommend.js";
import { badge, bar, bound, count, counted, details, duration, number, objective, percent, progress, SECRET, settings, studyPage, time, trialLink, trialName } from "/text.js";
import { Trials } from "/trials.js";

const LATEST = 6; /* recent ends on the screen */
const RUNNING = 12;
const LARGE_FRONT = 2000; /* points; more are not fetched, the picture has what can be seen */
const LABELS = { pause: "Pause", resume: "Resume", stop: "Stop …" };

/* ---- what it is doing ---- */

function stateLine(s) {
	/* "paused by alice (1000), web page, from 192.0.2.7" says it all */
	const reason = s.reason && s.reason !== s.state ? s.reason : null;
	const who = s.by && !reason?.includes(s.by) ? `by ${s.by}` : null;

	return element("p", { class: "state-line" }, badge(s.state),
		[reason, who].filter(Boolean).join(", "), waiting(s));
}

/* Always in the same line: a study that chooses its next point says so many times a minute, and
 * nothing below may jump for that. */
function waiting(s) {
	return s.waiting ? element("span", null, s.running ? "nothing more runs: " : "nothing runs: ", s.waiting) : null;
}

function progressLine(s) {
	const p = progress(s);

	if (!p)
		return element("p", null, "Its trials are secret, all but the selected one.");
	const left = s.state === "running" && typeof s.eta === "number" ?
		`, ${duration(s.eta)} left` : "";
	return element("div", { class: "progress" }, bar(p.part, "progress of the study"),
		element("span", null, `${p.words} (${percent(p.part)})${left}`));
}

/* What voids every epsilon on the page. */
function seedsLine(s) {
	return s.seeds_warning ? element("p", { class: "callout" }, s.seeds_warning) : null;
}

function measuringLine(s) {
	const m = s.measuring;

	return m ? element("p", null, `Measuring points again: ${count(m.done)} of ` +
		`${counted(m.points, "point")}, ${count(m.runs_done)} of ${counted(m.runs, "run")}.`) : null;
}

function buttons(s, session) {
	return session.control ? element("p", { class: "buttons" }, ordersOf(s).map((order) =>
		element("button", { type: "button", "data-order": order }, LABELS[order]))) : null;
}

/* ---- what it has found ---- */

function tile(name, value, more) {
	return element("div", { class: "tile" }, element("dt", null, name),
		element("dd", null, element("b", null, value),
			more ? element("span", { class: "soft" }, more) : null));
}

function volumeTile(s) {
	const parts = [
		typeof s.hypervolume_denoised === "number" ?
			`${number(s.hypervolume_denoised)} with noise taken out` : null,
		typeof s.hypervolume_remeasured === "number" ?
			`${number(s.hypervolume_remeasured)} measured again` : null];

	return tile("Hypervolume", number(s.hypervolume), parts.filter(Boolean).join("; "));
}

/* "epsilon 0.053 to 5.7" of the first objective that has numbers */
function frontRange(s, front) {
	const name = s.objectives[0];
	const values = front.map((p) => p.objectives?.[name]).filter((x) => typeof x === "number");

	if (front.length < s.front && s.front_of !== "denoised")
		return null; /* the first points only */
	const ends = [Math.min(...values), Math.max(...values)].map((x) => objective(s, name, x, 4));
	if (!values.length)
		return null;
	return `${name} ${ends[0] === ends[1] ? ends[0] : ends.join(" to ")}`;
}

function wholeTile(s) {
	return Object.entries(s.whole ?? {}).filter(([, w]) => w.proof !== "unknown")
		.map(([name, w]) => tile("Whole search", `${name} ${bound(w.epsilon, 4)}`,
			`at delta ${number(w.delta)}, ${counted(w.trainings, "training")} (${w.proof})`));
}

function selectionTile(s) {
	const t = s.selection;

	return t ? tile("Private selection", `epsilon ${bound(t.epsilon, 4)}`,
		`at delta ${number(t.delta)} for all that is published`) : null;
}

/* The front that is drawn. Until the models have answered there is only what was observed, which
 * may be another one. */
function frontTile(s, observed, drawn) {
	if (drawn || s.front_of !== "denoised")
		return tile("Front", counted(drawn?.length ?? s.front, "point"),
			frontRange(s, drawn ?? observed));
	return tile("Front", counted(s.front, "point"), s.front ?
		`as observed${observed.length < s.front ? "" : `: ${frontRange(s, observed)}`}` : null);
}

function tiles(s, observed, drawn) {
	return element("dl", { class: "tiles" },
		tile("Trials", s.ok === null ? SECRET : `${count(s.ok)} ok`,
			s.ok === null ? null : `${count(s.failed)} failed, ${count(s.diverged)} diverged, ` +
				`${count(s.running)} running`),
		volumeTile(s),
		frontTile(s, observed, drawn),
		wholeTile(s), selectionTile(s),
		tile("Time", s.elapsed === null ? SECRET : duration(s.elapsed),
			element("span", null, "submitted ", time(s.created))));
}

/* ---- lists ---- */

/* At most so many, and how many more there are. */
function list(title, rows, most, none) {
	const more = rows.length - most;

	return element("section", { class: "card", "data-key": title }, element("h2", null, title),
		rows.length ? element("ul", { class: "rows" }, rows.slice(0, most)) :
			element("p", { class: "soft" }, none),
		more > 0 ? element("p", { class: "soft" }, `and ${count(more)} more`) : null);
}

function runningRow(study, r) {
	const name = trialName(r);
	const known = typeof r.progress === "number";

	return element("li", { "data-key": `${name}/${r.run ?? ""}` },
		element("span", { class: "line" }, trialLink(study, r),
			known ? bar(r.progress, `progress of trial ${name}`) : null,
			element("span", { class: "soft" }, [known ? percent(r.progress) : null,
				duration(r.seconds),
				typeof r.run === "number" ? `run ${r.run}` : null,
				r.attempt > 0 ? `attempt ${r.attempt}` : null, r.where]
				.filter(Boolean).join(", "))),
		element("span", { class: "note" }, settings(r.parameters)));
}

function latestRow(s, t) {
	const values = s.objectives.map((name) =>
		`${name} ${objective(s, name, t.objectives?.[name])}`).join(", ");

	return element("li", { "data-key": trialName(t) },
		element("span", { class: "line" }, trialLink(s.name, t), badge(t.state),
			t.on_front ? element("span", { class: "star" }, "on the front") : null,
			element("span", { class: "soft" }, time(t.ended))),
		element("span", { class: "note clamp" }, t.objectives ? values : t.reason ?? ""));
}

function failureRow(study, f) {
	return element("li", { "data-key": `${trialName(f)}/${f.run ?? ""}/${f.attempt}` },
		element("span", { class: "line" }, trialLink(study, f),
			element("span", { class: "badge bad" }, f.end),
			element("span", { class: "soft" }, `attempt ${f.attempt}, `, time(f.time))),
		element("span", { class: "note message clamp", title: f.message }, f.message ?? "no message"));
}

/* ---- the recommendation ---- */

/* Why it is this point, in words. */
function whyRecommended(s, { rule, objective: least, limit }) {
	const utility = s.objectives.find((name) => !s.privacy?.includes(name)) ?? "the result";
	const within = typeof limit === "number" ?
		`Of the points with ${least} up to ${number(limit)}: ` : "";
	const words = {
		"one-se": `the least ${least ?? s.objectives[0]} that cannot be told from the best; its ` +
			`${utility} is within one standard error of the best one.`,
		knee: `where more ${least ?? s.objectives[0]} begins to buy little. How sure each point is, ` +
			"is not known: that takes two runs or more of each trial.",
		best: `the best ${utility}: no point is within the reference point.`,
	};
	const text = within + (words[rule] ?? "");

	if (s.selection)
		return "The selected training: all others stay secret.";
	return text.charAt(0).toUpperCase() + text.slice(1);
}

function recommended(s, choice, session) {
	const [point] = choice.front ?? [];

	return element("section", { class: "card", "data-key": "recommended" },
		element("h2", null, s.selection ? "Selected" : "Recommended"),
		point ? [
			element("p", null, whyRecommended(s, choice)),
			element("p", null, trialLink(s.name, point)),
			details(s, point),
			session.control && !s.selection ? element("p", { class: "buttons" },
				element("button", { type: "button", "data-order": "enqueue" },
					"Run these settings again …")) : null,
		] : element("p", { class: "soft" }, s.front ?
			"The front is being looked at." : "Nothing yet: there is no result."),
		element("div", { id: "ask", "data-keep": true }));
}

/* ---- all of it ---- */

function links(s) {
	return element("p", { class: "links" },
		s.report ? element("a", { href: `${studyPage(s.name)}/report` }, "Report") :
			element("span", { class: "soft" }, s.report_error ?
				`No report: ${s.report_error}` : "No report yet: one is written at the end"),
		" · ", element("a", { href: `/compare?study=${encodeURIComponent(s.name)}` }, "Compare"));
}

function figure(id, title) {
	return element("section", { class: "figure", "data-key": id }, element("h2", null, title),
		element("div", { id, "data-keep": true }));
}

function page(status, drawn, choice, session) {
	const s = status.study;

	return [
		element("h1", null, s.name),
		element("div", { class: "head" }, stateLine(s), seedsLine(s),
			progressLine(s), measuringLine(s),
			buttons(s, session), element("div", { id: "told", "data-keep": true })),
		tiles(s, status.front, drawn), links(s),
		element("div", { class: "columns" },
			figure("front", "Front"),
			element("div", { class: "side" }, recommended(s, choice, session),
				list("Running", status.running.map((r) => runningRow(s.name, r)), RUNNING,
					s.running === null ? "Secret." : "Nothing runs."),
				list("Recent ends", status.latest.map((t) => latestRow(s, t)), LATEST,
					"None yet.")),
			figure("hypervolume", "Hypervolume"),
			list("Failures", status.failures.map((f) => failureRow(s.name, f)), LATEST,
				s.failed === null ? "Secret." : "None.")),
		element("section", { "data-key": "trials" }, element("h2", null, "Trials"),
			element("div", { id: "trials", "data-keep": true })),
	];
}

/* What is worth saying aloud: not every result. */
function announce(was, s) {
	if (was && was.state !== s.state)
		say(`Study ${s.name} is ${s.state}${s.reason ? `: ${s.reason}` : ""}`);
	else if (was && s.failed > was.failed)
		say(`${counted(s.failed - was.failed, "trial")} failed`);
}

class StudyView {
	constructor(main, study, session) {
		Object.assign(this, { main, study, session, status: null, choice: {},
			drawn: null, points: new Map(), version: null, gone: false });
		main.addEventListener("click", (event) => this.click(event));
	}

	concerns(study) {
		return study === this.study;
	}

	polls() {
		return this.status?.running.length > 0;
	}

	deleted() {
		this.gone = true;
		show(this.main, element("h1", null, this.study), element("p", null,
			"This study was deleted. ", element("a", { href: "/" }, "All studies")));
	}

	async refresh() {
		if (this.gone)
			return;
		const status = await get(`${studyApi(this.study)}?front=first`);

		announce(this.status?.study, status.study);
		this.status = status;
		this.draw();
	}

	/* Figures and tables follow what is on the disk; progress is new more often. */
	async details() {
		const s = this.status.study;

		if (this.gone || s.version === this.version)
			return;
		await Promise.all([this.trials.refresh(s), s.front > 0 ? this.refreshFront() : null,
			this.front.refresh(s.front > 0), this.hypervolume.refresh(s.front > 0 && !s.selection)]);
		this.version = s.version;
	}

	/* What the models choose may take seconds while a study runs: whatever comes first is shown. */
	async refreshFront() {
		const s = this.status.study;
		const large = s.front_of !== "denoised" && s.front > LARGE_FRONT;
		const [front, choice] = await Promise.all([
			large ? null : get(studyApi(this.study, "/front")),
			get(studyApi(this.study, "/choice"))]);

		/* those of before stay: the picture may be of a moment earlier or later */
		for (const point of front?.front ?? [])
			this.points.set(trialName(point), point);
		this.drawn = front?.front;
		this.choice = choice;
		this.draw();
		this.trials.mark();
		this.front.retell();
	}

	draw() {
		if (this.gone)
			return; /* an answer that was on its way when it was deleted */
		const s = this.status.study, p = progress(s);

		document.title = `${s.state === "running" && p ? `${percent(p.part)} ` : ""}${s.name} - DPareto`;
		show(this.main, page(this.status, this.drawn, this.choice, this.session));
		if (!this.trials)
			this.mount();
	}

	mount() {
		const url = (name) => (width) =>
			`${studyApi(this.study, `/figures/${name}.svg`)}?inline&width=${width}`;

		this.front = new Figure(document.getElementById("front"), {
			url: url("front"), about: (trial) => this.about(trial),
			none: "No result yet: the first one appears here." });
		this.hypervolume = new Figure(document.getElementById("hypervolume"), {
			url: url("hypervolume"), none: this.status.study.selection ?
				"Not shown: it would tell of trainings that are secret." :
				"It grows with the results." });
		if (!this.status.study.selection)
			this.recommend = new Recommend(document.getElementById("ask"), () => this.status.study,
				this.session.control ? (parameters) => this.order("enqueue", parameters) : null);
		this.trials = new Trials(document.getElementById("trials"), this.study,
			(trial) => this.isOnFront(trial));
	}

	/* The server's rows go by what was observed; the front that is drawn may be the models'. */
	isOnFront(trial) {
		if (this.status.study.front_of !== "denoised")
			return trial.on_front;
		return this.drawn?.some((point) => trialName(point) === trialName(trial)) ?? false;
	}

	about(trial) {
		const point = this.points.get(trial);

		return point ? [element("p", { class: "tip-head" }, `trial ${trial}`),
			details(this.status.study, point)] : null;
	}

	click(event) {
		const order = event.target.closest("button")?.dataset.order;

		if (order)
			this.order(order, this.choice.front?.[0]?.parameters);
	}

	order(order, parameters) {
		return give(document.getElementById("told"), order, this.study,
			order === "enqueue" ? { parameters } : null);
	}
}

export function studyView(main, study, session) {
	return new StudyView(main, study, session);
}
