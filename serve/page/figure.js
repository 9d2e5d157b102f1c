/* figure.js - a figure of the server in the page: points tell about themselves when one
 * points at them or reaches them by keyboard, and lead to their trials. */
import { getText, Refusal } from "/api.js";
import { element, show } from "/dom.js";

const NARROWEST = 280, WIDEST = 1200; /* that the server draws */
const REACH = 18;                     /* px: a point so near is meant */
const XLINK = "http://www.w3.org/1999/xlink";

/* The dark style of figures; not in print, which is always light. */
function wantStyle() {
	if (document.getElementById("figure-style"))
		return;
	document.head.append(element("link", { id: "figure-style", rel: "stylesheet",
		href: "/api/figures.css", media: "screen and (prefers-color-scheme: dark)" }));
}

/* The server escapes what it writes; this is the second lock. */
function clean(svg) {
	for (const node of [...svg.querySelectorAll("script, foreignObject, style, animate, set")])
		node.remove();
	for (const node of [svg, ...svg.querySelectorAll("*")])
		for (const { name, value } of [...node.attributes])
			if (/^on|^style$/i.test(name) ||
			    (/href$/i.test(name) && !/^(#|\/(?!\/))/.test(value)))
				node.removeAttribute(name);
}

function parse(text) {
	const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;

	if (svg.nodeName !== "svg")
		return null;
	clean(svg);
	return document.importNode(svg, true);
}

/* Where a mark leads: "/studies/s/trials/7@4". */
function pathOf(link) {
	return link.getAttributeNS(XLINK, "href") ?? link.getAttribute("href");
}

/* "13" or "7@4" */
function trialOf(link) {
	return /\/trials\/([^/]+)$/.exec(pathOf(link) ?? "")?.[1] ?? null;
}

export class Figure {
	/* `url(width)` is where it is, `about(trial)` nodes that tell of a point, or null. */
	constructor(place, { url, about = () => null, none }) {
		this.place = place;
		this.url = url;
		this.about = about;
		this.none = none;
		this.text = this.shown = null;
		this.items = [];
		this.box = element("div", { class: "drawing" },
			element("p", { class: "soft" }, "Being drawn …"));
		this.tip = element("div", { class: "tip", role: "tooltip", id: `${place.id}-tip`,
			hidden: true });
		place.append(this.box, this.tip);
		this.listen();
		wantStyle();
	}

	width() {
		return Math.min(WIDEST, Math.max(NARROWEST, Math.floor(this.place.clientWidth)));
	}

	/* `there`: the study has something to draw. */
	async refresh(there = true) {
		const width = this.width();
		let text = null;

		if (there)
			try {
				text = await getText(this.url(width));
			} catch (error) {
				if (!(error instanceof Refusal) || error.status !== 404)
					throw error;
			}
		this.drawn = width;
		if (text === null || text !== this.text)
			this.draw(text && parse(text));
		this.text = text;
	}

	draw(svg) {
		const held = this.box.contains(document.activeElement) ?
			pathOf(document.activeElement) : null;
		const shown = this.shown;

		if (svg) {
			this.prepare(svg);
			this.box.replaceChildren(svg);
		} else {
			this.items = [];
			show(this.box, element("p", { class: "soft" }, this.none));
		}
		this.item(held)?.link.focus({ preventScroll: true });
		if (this.item(shown))
			this.open(this.item(shown));
		else
			this.close();
	}

	/* One stop for the Tab key, arrows go on from there; words for whoever hears it. */
	prepare(svg) {
		this.items = [...svg.querySelectorAll("a")].filter(trialOf).map((link) => {
			const mark = link.querySelector("[x][y]");
			const title = link.querySelector("title");
			const item = { link, path: pathOf(link), trial: trialOf(link), title: title?.textContent ?? "",
				x: Number(mark?.getAttribute("x")), y: Number(mark?.getAttribute("y")) };

			link.setAttribute("role", "link");
			link.setAttribute("aria-label", item.title || `trial ${item.trial}`);
			link.setAttribute("tabindex", "-1");
			title?.remove();
			return item;
		});
		this.stops = [...this.items].sort((a, b) => a.x - b.x || a.y - b.y)
			.filter((item, i, all) => item.path !== all[i - 1]?.path);
		(this.item(this.shown) ?? this.stops[0])?.link.setAttribute("tabindex", "0");
	}

	/* The mark that leads there: of several the last one, which is on top. */
	item(path) {
		return this.stops?.find((item) => item.path === path) ??
			this.items.findLast((item) => item.path === path);
	}

	/* ---- pointing ---- */

	nearest(event) {
		const svg = this.box.querySelector("svg"), frame = svg?.getBoundingClientRect();
		let best = null, reach = REACH;

		if (!frame)
			return null;
		const scale = frame.width / svg.viewBox.baseVal.width;
		for (const item of this.items) {
			const d = Math.hypot(frame.left + item.x * scale - event.clientX,
				frame.top + item.y * scale - event.clientY);

			if (d <= reach) { /* of marks at one place the last, which is on top */
				reach = d;
				best = item;
			}
		}
		return best;
	}

	listen() {
		this.box.addEventListener("pointermove", (event) => {
			const item = this.nearest(event);

			if (item)
				this.open(item);
			else if (!this.box.contains(document.activeElement))
				this.close();
		});
		this.place.addEventListener("pointerleave", () => {
			if (!this.box.contains(document.activeElement))
				this.close();
		});
		this.box.addEventListener("focusin", (event) => {
			const item = this.items.find(({ link }) => link === event.target.closest("a"));

			if (item)
				this.open(item);
		});
		this.box.addEventListener("focusout", () => this.close());
		this.box.addEventListener("keydown", (event) => this.key(event));
		this.box.addEventListener("click", (event) => this.click(event));
		addEventListener("keydown", (event) => {
			if (event.key === "Escape")
				this.close();
		});
		new ResizeObserver(() => this.resized()).observe(this.place);
	}

	/* A finger covers what it points at: its first touch shows, the second goes there. */
	click(event) {
		const item = this.nearest(event) ??
			this.items.find(({ link }) => link === event.target.closest?.("a"));

		if (!item)
			return;
		event.preventDefault();
		if (event.pointerType === "touch" && this.touched !== item.path) {
			this.touched = item.path;
			this.open(item);
		} else {
			location.assign(item.path);
		}
	}

	key(event) {
		const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1,
			Home: -Infinity, End: Infinity }[event.key];
		const at = this.stops.findIndex(({ link }) => link === document.activeElement);

		if (step === undefined || at < 0)
			return;
		event.preventDefault();
		const to = this.stops[Math.min(this.stops.length - 1, Math.max(0, at + step))];
		this.stops[at].link.setAttribute("tabindex", "-1");
		to.link.setAttribute("tabindex", "0");
		to.link.focus();
	}

	/* ---- the tip ---- */

	open(item) {
		this.mark(this.shown, false);
		this.shown = item.path;
		this.mark(this.shown, true);
		show(this.tip, this.about(item.trial) ?? element("p", null, item.title));
		this.tip.hidden = false;
		item.link.setAttribute("aria-describedby", this.tip.id);
		this.put(item);
	}

	/* More is known of the points than when the tip was opened. */
	retell() {
		if (this.item(this.shown))
			this.open(this.item(this.shown));
	}

	mark(path, on) {
		for (const item of this.items)
			if (item.path === path)
				item.link.classList.toggle("meant", on);
	}

	/* Beside the point and above it, where fronts leave room, and within the figure. */
	put(item) {
		const frame = this.box.querySelector("svg").getBoundingClientRect();
		const place = this.place.getBoundingClientRect();
		const scale = frame.width / this.box.querySelector("svg").viewBox.baseVal.width;
		const x = frame.left - place.left + item.x * scale;
		const y = frame.top - place.top + item.y * scale;
		const right = x + 14 + this.tip.offsetWidth <= place.width;
		const left = right ? x + 14 : Math.max(0, x - 14 - this.tip.offsetWidth);
		const beside = right || x - 14 - this.tip.offsetWidth >= 0;

		this.tip.style.left = `${left}px`;
		this.tip.style.top = `${beside ? Math.max(0, y - this.tip.offsetHeight - 6) : y + 16}px`;
	}

	close() {
		this.mark(this.shown, false);
		this.item(this.shown)?.link.removeAttribute("aria-describedby");
		this.tip.hidden = true;
		this.shown = this.touched = null;
	}

	/* The server lays it out for the width that there is. */
	resized() {
		clearTimeout(this.timer);
		if (this.text && this.drawn !== this.width())
			this.timer = setTimeout(() => this.refresh().catch(() => {}), 250);
	}
}
