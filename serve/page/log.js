/* log.js - what a trainer printed, followed while it runs. */
import { get, Refusal, studyApi } from "/api.js";
import { element } from "/dom.js";
import { bytes } from "/text.js";

const EVERY = 1000;       /* ms between two looks */
const KEPT = 400_000;     /* characters on the screen */
const CHUNK = 65_536;     /* bytes of an answer, at most */
const NEAR = 24;          /* px from the end: the reader follows */
/* Colours of terminals, and what else must not be shown. */
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/* Progress bars write over their line: the last writing counts. */
function readable(text) {
	return text.replace(ESCAPES, "").replace(/\r+\n/g, "\n")
		.replace(/^.*\r(?!$)/gm, "").replace(CONTROLS, "");
}

export class Log {
	constructor(place, study, trial) {
		this.place = place;
		this.api = studyApi(study, `/trials/${encodeURIComponent(trial)}/log`);
		this.attempts = [];
		this.make();
		this.restart();
		setInterval(() => this.look(), EVERY);
	}

	make() {
		this.stream = element("select", { id: "stream" },
			["stderr", "stdout"].map((name) => element("option", null, name)));
		this.which = element("select", { id: "attempt" });
		this.earlier = element("button", { type: "button", hidden: true }, "Show earlier lines");
		this.state = element("span", { class: "soft" });
		this.text = element("pre", { class: "log", tabindex: "0", role: "region",
			"aria-label": "Log" });
		this.place.append(element("div", { class: "tools" },
			element("label", null, "Stream ", this.stream),
			element("label", null, "Attempt ", this.which), this.earlier, this.state), this.text);
		this.stream.addEventListener("change", () => this.restart());
		this.which.addEventListener("change", () => this.restart());
		this.earlier.addEventListener("click", () => this.restart(Math.max(0, this.first - CHUNK)));
	}

	/* The attempts there are; the latest is chosen until the reader chooses another one. */
	offer(attempts) {
		const latest = this.which.selectedIndex === this.which.options.length - 1;

		if (attempts.length === this.attempts.length)
			return;
		for (const { attempt, run } of attempts.slice(this.attempts.length))
			this.which.append(element("option", { value: `${attempt}/${run ?? ""}` },
				run === null || run === undefined ? `${attempt}` : `${attempt} of run ${run}`));
		this.attempts = attempts;
		if (latest) {
			this.which.selectedIndex = attempts.length - 1;
			this.restart();
		}
	}

	/* From that byte on, or the last few kilobytes. */
	restart(from = null) {
		this.turn = (this.turn ?? 0) + 1;
		this.first = this.next = from;
		this.reads = from !== null; /* from the top, instead of following */
		this.ended = this.cut = false;
		this.line = document.createTextNode(""); /* the last one, which is not whole */
		this.raw = "";
		this.text.replaceChildren(this.line);
		this.earlier.hidden = true;
		this.state.textContent = "";
		this.look();
	}

	url(more) {
		const [attempt, run] = this.which.value.split("/");
		const query = new URLSearchParams({ stream: this.stream.value, attempt, ...more });

		if (run)
			query.set("run", run);
		return `${this.api}?${query}`;
	}

	/* Asks for what is new. What cannot be had now is asked for again. */
	async look() {
		const turn = this.turn;

		if (this.looking === turn || this.ended || document.hidden || !this.which.value ||
		    document.body.classList.contains("stale"))
			return;
		this.looking = turn;
		try {
			const part = await get(this.url(this.next === null ? {} : { from: this.next }));

			if (turn === this.turn)
				this.add(part);
		} catch (error) {
			if (turn === this.turn && error instanceof Refusal && error.kind !== "no-daemon")
				this.refuse(error);
			/* else the banner tells, if it is more than a moment */
		} finally {
			if (this.looking === turn)
				this.looking = null;
		}
	}

	/* Logs that were removed, or are not kept because they could tell a secret. */
	refuse(error) {
		this.ended = true;
		this.state.textContent = error.message;
	}

	add(part) {
		const follows = !this.reads &&
			this.text.scrollHeight - this.text.scrollTop - this.text.clientHeight < NEAR;
		const whole = (this.raw + part.text).split(/(?<=\n)/);

		this.first ??= part.from;
		this.reads = false;
		this.next = part.next;
		this.ended = part.ended && part.next >= part.size;
		this.raw = whole.at(-1)?.endsWith("\n") ? "" : whole.pop() ?? "";
		if (whole.length)
			this.line.before(readable(whole.join("")));
		if (this.line.data !== readable(this.raw))
			this.line.data = readable(this.raw);
		if (follows) {
			this.shorten();
			this.text.scrollTop = this.text.scrollHeight;
		}
		this.tell(part);
		if (!this.ended && part.next < part.size)
			queueMicrotask(() => this.look());
	}

	shorten() {
		let length = this.text.textContent.length;

		while (length > KEPT && this.text.firstChild !== this.line) {
			length -= this.text.firstChild.data.length;
			this.text.firstChild.remove();
			this.cut = true;
		}
	}

	tell(part) {
		this.earlier.hidden = this.first === 0 || this.cut;
		if (part.size === 0)
			this.state.textContent = part.ended ? "nothing was written" : "nothing yet; it is followed";
		else
			this.state.textContent = `${bytes(part.size)}, ` +
				(part.ended ? `ended (${part.end ?? "?"})` : "followed while it runs");
	}
}
