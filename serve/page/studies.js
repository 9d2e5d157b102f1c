/* studies.js - the first page: all studies. */
import { get, studyApi } from "/api.js";
import { element, show } from "/dom.js";
import { badge, bar, bytes, count, counted, duration, number, percent, progress, SECRET, studyPage, time } from "/text.js";

const ORDER = ["running", "paused", "failed", "stopped", "finished"];

/* What runs comes first, then what is newest: an order that does not change all the time. */
function inOrder(studies) {
	return [...studies].sort((a, b) =>
		ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || b.id - a.id);
}

function progressCell(s) {
	const p = progress(s);

	if (!p)
		return SECRET;
	return [bar(p.part, `progress of ${s.name}`),
		element("span", null, `${p.words} (${percent(p.part)})`),
		s.failed > 0 ? element("span", { class: "bad" }, ` ${count(s.failed)} failed`) : null];
}

function timeLeft(s) {
	return s.state === "running" && typeof s.eta === "number" ? duration(s.eta) : "-";
}

/* What there is to worry about, in a line below the name. */
function trouble(s) {
	const text = s.waiting ?? s.reason;

	return text ? element("span", { class: "note clamp", title: text }, text) : null;
}

function spark(s) {
	if (!s.front)
		return "-";
	return element("img", { class: "spark", loading: "lazy", width: 120, height: 28,
		src: `${studyApi(s.name, "/figures/spark.svg")}?version=${s.version}`,
		alt: `how the hypervolume of ${s.name} grew` });
}

function cell(label, ...inside) {
	return element("td", { role: "cell", "data-label": label,
		class: inside[0] === "-" ? "none" : null }, ...inside);
}

/* Roles are written out: on a phone the rows are laid out as cards, which would lose them. */
function row(s) {
	return element("tr", { role: "row", "data-key": s.name },
		element("td", { role: "cell", class: "tick" },
			element("input", { type: "checkbox", name: "study", value: s.name,
				"aria-label": `compare ${s.name}` })),
		element("th", { role: "rowheader", scope: "row" },
			element("a", { href: studyPage(s.name) }, s.name), trouble(s)),
		cell("state", badge(s.state)),
		cell("progress", element("span", { class: "done" }, progressCell(s))),
		cell("time left", timeLeft(s)),
		cell("hypervolume", number(s.hypervolume)),
		cell("growth", spark(s)),
		cell("last change", time(s.updated)));
}

function daemonLine(daemon, studies) {
	const running = studies.filter(({ state }) => state === "running").length;

	return element("p", { class: "soft" },
		`${counted(studies.length, "study", "studies")}, ${count(running)} running`,
		daemon ? `; ${count(daemon.busy)} of ${counted(daemon.slots, "place")} taken, ` +
			`${bytes(daemon.disk_free)} free on the disk` : null,
		daemon?.trouble ? element("span", { class: "bad" }, ` ${daemon.trouble}`) : null);
}

function table(studies) {
	const heads = ["", "Study", "State", "Progress", "Time left", "Hypervolume", "Growth",
		"Last change"];

	return element("form", { action: "/compare", id: "studies" },
		element("div", { class: "tools" },
			element("label", null, "Find ", element("input", { type: "search", id: "find",
				autocomplete: "off" })),
			element("button", { id: "compare", disabled: true }, "Compare ticked")),
		element("table", { class: "studies cards", role: "table" },
			element("caption", null, "All studies; ticked ones can be compared"),
			element("thead", { role: "rowgroup" }, element("tr", { role: "row" },
				heads.map((head) => element("th", { role: "columnheader", scope: "col" },
					head || element("span", { class: "unseen" }, "compare"))))),
			element("tbody", { role: "rowgroup" }, inOrder(studies).map(row))));
}

const EMPTY = element("div", { class: "card" },
	element("h2", null, "No study yet"),
	element("p", null, "Submit one, and it appears here:"),
	element("pre", null, "dparetoctl submit first.yaml"));

export function studiesView(main) {
	/* What depends on ticks and on what is looked for, kept over updates. */
	function adjust() {
		const form = document.getElementById("studies");
		const text = document.getElementById("find")?.value.trim().toLowerCase() ?? "";

		if (!form)
			return;
		form.querySelector("#compare").disabled =
			form.querySelectorAll("input:checked").length < 2;
		for (const line of form.querySelectorAll("tbody tr"))
			line.hidden = !line.dataset.key.toLowerCase().includes(text);
	}

	main.addEventListener("input", adjust);
	/* the text that is looked for is not a part of the comparison */
	main.addEventListener("keydown", (event) => {
		if (event.key === "Enter" && event.target.id === "find")
			event.preventDefault();
	});
	return {
		concerns: () => true,
		polls: () => false,
		async refresh() {
			const [studies, daemon] = await Promise.all([get("/api/studies"), get("/api/daemon")]);

			document.title = "Studies - DPareto";
			show(main, element("h1", null, "Studies"), daemonLine(daemon, studies),
				studies.length ? table(studies) : EMPTY.cloneNode(true));
			adjust();
		},
	};
}
