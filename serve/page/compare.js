/* compare.js - several studies on one front. */
import { get } from "/api.js";
import { element, show } from "/dom.js";
import { Figure } from "/figure.js";
import { badge, count, number, progress, percent, SECRET, studyPage } from "/text.js";

function row(s) {
	const p = progress(s);

	return element("tr", { "data-key": s.name },
		element("th", { scope: "row" }, element("a", { href: studyPage(s.name) }, s.name)),
		element("td", null, badge(s.state)),
		element("td", null, p ? `${p.words} (${percent(p.part)})` : SECRET),
		element("td", { class: "n" }, number(s.hypervolume)),
		element("td", { class: "n" }, number(s.hypervolume_denoised)),
		element("td", { class: "n" }, count(s.front)),
		element("td", null, s.objectives.join(", ")));
}

function table(studies) {
	const heads = ["study", "state", "progress", "hypervolume", "noise taken out",
		"front points as observed", "objectives"];

	return element("div", { class: "table", role: "region", tabindex: "0",
		"aria-label": "The studies that are compared" },
	element("table", null, element("caption", null, "The studies that are compared"),
		element("thead", null, element("tr", null,
			heads.map((head) => element("th", { scope: "col" }, head)))),
		element("tbody", null, studies.map(row))));
}

function chooser(all, names) {
	return element("form", { class: "card choose", action: "/compare" },
		element("fieldset", null, element("legend", null, "Studies to compare"),
			element("div", { class: "ticks" }, all.map((s) => element("label", { "data-key": s.name },
				element("input", { type: "checkbox", name: "study", value: s.name,
					checked: names.includes(s.name) }), ` ${s.name}`)))),
		element("p", { class: "buttons" }, element("button", { class: "main" }, "Compare")));
}

/* Hypervolumes from different places, or of other things, are no comparison. */
function warning(studies) {
	const frame = (s) => JSON.stringify([s.objectives, s.anti_ideal]);

	return studies.some((s) => frame(s) !== frame(studies[0])) ?
		element("p", { class: "callout" }, "These studies have different objectives or " +
			"anti-ideal points: their hypervolumes cannot be compared.") : null;
}

class CompareView {
	constructor(main, names) {
		Object.assign(this, { main, names, studies: [], versions: "" });
	}

	concerns(study) {
		return this.names.includes(study);
	}

	polls() {
		return false;
	}

	async refresh() {
		const all = await get("/api/studies");
		const studies = this.names.map((name) => all.find((s) => s.name === name)).filter(Boolean);
		const lost = this.names.filter((name) => !all.some((s) => s.name === name));
		const drawn = studies.length > 1;

		document.title = "Compare - DPareto";
		show(this.main, element("h1", null, "Compare studies"),
			lost.length ? element("p", { class: "bad" }, `There is no study ${lost.join(", ")}.`) : null,
			drawn ? warning(studies) : element("p", null, "Choose two or more."),
			drawn ? element("section", { class: "figure narrow", "data-key": "figure" },
				element("h2", null, "Fronts"),
				element("div", { id: "fronts", "data-keep": true })) : null,
			drawn ? table(studies) : null,
			chooser(all, this.names));
		this.studies = drawn ? studies : [];
	}

	async details() {
		const versions = this.studies.map((s) => s.version).join();

		if (versions === this.versions)
			return;
		this.figure ??= new Figure(document.getElementById("fronts"), {
			url: (width) => `/api/compare/front.svg?${this.query()}&inline&width=${width}`,
			none: "No result yet." });
		await this.figure.refresh(this.studies.some((s) => s.front > 0));
		this.versions = versions;
	}

	query() {
		return new URLSearchParams(this.names.map((name) => ["study", name]));
	}
}

export function compareView(main, names) {
	return new CompareView(main, [...new Set(names)]);
}
