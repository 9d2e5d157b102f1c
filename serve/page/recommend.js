/* recommend.js - what do I get at an epsilon that nobody tested? The models' answer. */
import { get, studyApi } from "/api.js";
import { element, show } from "/dom.js";
import { bound, number, setting, trialLink } from "/text.js";

function predicted({ value, low, high }) {
	return `${number(value)}, 95 % from ${number(low, 4)} to ${number(high, 4)}`;
}

function trust(t) {
	if (!t)
		return null;
	return t.trusted ? element("p", { class: "soft" }, `The model of ${t.of} can be trusted there: ` +
		`left out, the ${t.neighbours} results nearest to it are predicted to within ` +
		`${number(t.leave_one_out, 2)}.`) :
		element("p", { class: "bad" }, `Doubtful: ${t.why ?? "the models are not sure"}`);
}

function answer(summary, r) {
	const rows = [
		...Object.entries(r.objectives).map(([name, x]) =>
			[name, summary.privacy.includes(name) ? bound(x) : number(x)]),
		...Object.entries(r.predicted).map(([name, p]) => [name, predicted(p)]),
		...Object.entries(r.parameters).map(([name, x]) => [name, setting(x)])];

	return [element("dl", { class: "pairs" }, rows.map(([name, value]) =>
		[element("dt", null, name), element("dd", null, value)])),
	trust(r.trust),
	r.tested ? element("p", { class: "soft" }, "Best tested point: ",
		trialLink(summary.name, r.tested), ".") : null];
}

export class Recommend {
	/* `summary()` is the study as it is now; `enqueue(parameters)` runs what was found, null
	 * where that is not allowed. */
	constructor(place, summary, enqueue) {
		this.summary = summary;
		this.enqueue = enqueue;
		this.level = element("input", { type: "text", inputmode: "decimal", required: true, size: 8,
			autocomplete: "off", "aria-label": "at most" });
		this.of = element("select", { "aria-label": "objective" },
			summary().objectives.map((name) => element("option", null, name)));
		this.found = element("div", { role: "status" });
		this.button = element("button", { type: "button", hidden: true }, "Run these settings …");
		this.form = element("form", { class: "tools" }, this.of, " at most ", this.level,
			element("button", null, "Ask"));
		place.append(element("details", null,
			element("summary", null, "And at a level that nobody tested?"),
			this.form, this.found, element("p", { class: "buttons" }, this.button)));
		this.form.addEventListener("submit", (event) => {
			event.preventDefault();
			this.ask();
		});
		this.button.addEventListener("click", () => this.enqueue(this.parameters));
	}

	async ask() {
		const query = new URLSearchParams({ at: `${this.of.value}=${this.level.value.trim()}` });

		this.button.hidden = true;
		show(this.found, element("p", { class: "soft" }, "The models are asked …"));
		try {
			const r = await get(`${studyApi(this.summary().name, "/recommend")}?${query}`);

			this.parameters = r.parameters;
			show(this.found, answer(this.summary(), r));
			this.button.hidden = !this.enqueue;
		} catch (error) {
			show(this.found, element("p", { class: "bad" }, error.message),
				error.hint ? element("p", { class: "soft" }, error.hint) : null);
		}
	}
}
