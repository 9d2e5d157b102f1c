/* trials.js - the table of a study's trials: sorted, filtered and paged by the server. */
import { get, studyApi } from "/api.js";
import { element, show } from "/dom.js";
import { badge, count, duration, number, objective, setting, time, trialName, trialPage } from "/text.js";

const AGAIN = 1000; /* milliseconds */
const ROWS = 50;
const PAUSE = 300; /* ms after the last key, before the server is asked */
const STATES = ["ok", "failed", "diverged", "running", "waiting", "cancelled"];
const FIXED = ["trial", "state", "source", "seconds", "ended"];

/* A column's name for the server: with where it is from, if that is not clear. */
function columnName(group, name, others) {
	return FIXED.includes(name) || others.includes(name) ? `${group}.${name}` : name;
}

function columnsOf(summary, trials, isOnFront) {
	const parameters = [...new Set(trials.flatMap((t) => Object.keys(t.parameters ?? {})))];

	return [
		{ sort: "trial", head: "trial", show: null },
		{ sort: "state", head: "state", show: (t) => [badge(t.state),
			isOnFront(t) ? element("span", { class: "star", title: "on the front" }, " on front") : null] },
		...summary.objectives.map((name) => ({
			sort: columnName("objectives", name, parameters), head: name, n: true,
			show: (t) => t.objectives ? objective(summary, name, t.objectives[name]) : "-",
			exact: (t) => t.objectives?.[name] })),
		...parameters.map((name) => ({
			sort: columnName("parameters", name, summary.objectives), head: name, n: true,
			show: (t) => setting(t.parameters?.[name] ?? null),
			exact: (t) => t.parameters?.[name] })),
		{ sort: "seconds", head: "took", n: true,
		  show: (t) => t.seconds === null ? "-" : duration(t.seconds) },
		{ sort: "ended", head: "ended", show: (t) => time(t.ended) },
		{ sort: "source", head: "source", show: (t) => t.source ?? "-" },
		...(trials.some((t) => t.reason) ?
			[{ head: "reason", wide: true, show: (t) => t.reason ?
				element("span", { class: "clamp", title: t.reason }, t.reason) : "" }] : []),
	];
}

function headCell(column, sort) {
	const on = sort === column.sort || sort === `-${column.sort}`;
	const down = on && sort.startsWith("-");

	if (!column.sort)
		return element("th", { scope: "col" }, column.head);
	return element("th", { scope: "col", class: column.n ? "n" : null, "data-key": column.sort,
		"aria-sort": on ? (down ? "descending" : "ascending") : null },
		element("button", { type: "button", class: "sort", "data-sort": column.sort }, column.head,
			element("span", { "aria-hidden": "true" }, on ? (down ? " ▼" : " ▲") : "")));
}

function trialRow(study, columns, t) {
	const name = trialName(t);

	return element("tr", { "data-key": name },
		element("th", { scope: "row" }, element("a", { href: trialPage(study, t) }, name)),
		columns.slice(1).map((c) => element("td", {
			class: c.n ? "n" : c.wide ? "wide" : null,
			title: typeof c.exact?.(t) === "number" ? String(c.exact(t)) : null }, c.show(t))));
}

export class Trials {
	constructor(place, study, isOnFront) {
		const asked = new URLSearchParams(location.search);

		this.place = place;
		this.study = study;
		this.isOnFront = isOnFront;
		this.sort = asked.get("sort") ?? "-trial";
		this.from = Math.max(0, Number(asked.get("from")) || 0);
		this.where = asked.getAll("where").join(", ");
		this.status = asked.get("status") ?? "";
		this.columns = [];
		show(place, this.tools(), element("div", { class: "trials-table" }));
		this.listen();
	}

	tools() {
		return element("form", { class: "tools", role: "search", "aria-label": "Trials" },
			element("label", null, "Filter ", element("input", { type: "search", name: "where",
				value: this.where, autocomplete: "off", spellcheck: "false",
				"aria-describedby": "filter-help" })),
			element("label", null, "State ", element("select", { name: "status" },
				element("option", { value: "" }, "any"),
				STATES.map((state) => element("option", { value: state,
					selected: state === this.status }, state)))),
			element("span", { id: "filter-help", class: "soft" },
				"words, or conditions such as epsilon<=1, source=initial"));
	}

	listen() {
		const form = this.place.querySelector("form");
		let timer;

		form.addEventListener("submit", (event) => event.preventDefault());
		form.addEventListener("input", () => {
			clearTimeout(timer);
			timer = setTimeout(() => {
				this.where = form.elements.where.value;
				this.status = form.elements.status.value;
				this.go({ from: 0 });
			}, PAUSE);
		});
		this.place.addEventListener("click", (event) => {
			const { sort, from } = event.target.closest("button")?.dataset ?? {};

			if (sort !== undefined)
				this.go({ sort: this.sort === sort ? `-${sort}` : sort, from: 0 });
			else if (from !== undefined)
				this.go({ from: Number(from) });
		});
	}

	/* Another page or order; the address follows, so that it can be kept and shared. */
	go(change) {
		Object.assign(this, change);
		const query = this.query();
		query.delete("limit");
		for (const [key, value] of [...query])
			if (value === "" || (key === "from" && value === "0") ||
			    (key === "sort" && value === "-trial"))
				query.delete(key);
		history.replaceState(null, "", location.pathname + (query.size ? `?${query}` : ""));
		this.refresh(this.summary).catch((error) => this.refuse(error));
	}

	query() {
		const query = new URLSearchParams({ limit: ROWS, from: this.from, sort: this.sort });

		for (const part of this.where.split(",").map((text) => text.trim()))
			if (part)
				query.append("where", part);
		if (this.status)
			query.set("status", this.status);
		return query;
	}

	/* Of several answers that are on their way only the last one counts. */
	async refresh(summary) {
		const turn = this.turn = (this.turn ?? 0) + 1;
		const page = await get(`${studyApi(this.study, "/trials")}?${this.query()}`);

		this.summary = summary;
		if (turn !== this.turn)
			return;
		if (page.from >= page.total && page.from > 0)
			return this.go({ from: Math.max(0, Math.ceil(page.total / ROWS) - 1) * ROWS });
		this.draw(page);
		/* of many trials the server may show those of a moment ago: once more then */
		if (page.version !== null && page.version < summary.version)
			setTimeout(() => turn === this.turn && this.place.isConnected &&
				this.refresh(this.summary).catch((error) => this.refuse(error)), AGAIN);
	}

	refuse(error) {
		show(this.place.querySelector(".trials-table"), element("p", { class: "bad" }, error.message),
			error.hint ? element("p", { class: "soft" }, error.hint) : null);
	}

	/* The front is another: the rows that are there say so. */
	mark() {
		if (this.shown)
			this.draw(this.shown);
	}

	draw({ trials, total, from }) {
		this.shown = { trials, total, from };
		/* columns stay while nothing is found, so that their order can still be changed */
		if (trials.length || !this.columns.length)
			this.columns = columnsOf(this.summary, trials, this.isOnFront);
		show(this.place.querySelector(".trials-table"),
			this.pager(from, trials.length, total),
			element("div", { class: "table", role: "region", tabindex: "0", "data-key": "table",
				"aria-label": "Trials, a table that scrolls sideways" },
				element("table", null,
					element("caption", null, "Trials; a column's button sorts by it"),
					element("thead", null, element("tr", null,
						this.columns.map((column) => headCell(column, this.sort)))),
					element("tbody", null,
						trials.map((t) => trialRow(this.study, this.columns, t))))));
	}

	pager(from, n, total) {
		const last = Math.max(0, Math.ceil(total / ROWS) - 1) * ROWS;
		const button = (text, to, off) => element("button", { type: "button", "data-from": to,
			disabled: off }, text);

		return element("nav", { class: "pager", "aria-label": "Pages of trials" },
			element("span", { role: "status" }, total ?
				`${count(from + 1)} to ${count(from + n)} of ${count(total)}` :
				this.where || this.status ? "none found" : "none yet"),
			total > ROWS ? [
				button("First", 0, from === 0),
				button("Previous", Math.max(0, from - ROWS), from === 0),
				button("Next", Math.min(last, from + ROWS), from >= last),
				button("Last", last, from >= last)] : null);
	}
}
