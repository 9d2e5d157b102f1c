/* text.js - values as people read them. */
import { element } from "/dom.js";

const DIGITS = 5;
const MEASURING = 1e9; /* numbers of trials that measure points again */
export const SECRET = "secret";

/* As C's %.*g. */
function general(x, digits) {
	const [mantissa, exponent] = x.toExponential(digits - 1).split("e");

	if (exponent < -4 || exponent >= digits)
		return `${Number(mantissa)}e${Number(exponent)}`;
	return String(Number(x.toPrecision(digits)));
}

/* The next number above x with so many digits: what is private is never rounded down. */
function above(x, digits) {
	const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
	const next = Number(mantissa.replace(".", "")) + 1;

	return Number(`${next}e${exponent - digits + 1}`);
}

export function number(x, digits = DIGITS) {
	if (typeof x !== "number")
		return x === null || x === undefined ? "-" : String(x); /* "inf", "nan" */
	return Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : general(x, digits);
}

/* An upper bound, such as epsilon. */
export function bound(x, digits = DIGITS) {
	const text = number(x, digits);

	if (typeof x !== "number" || !(x > 0) || Number(text) >= x)
		return text;
	return number(above(x, digits), digits);
}

/* Counts: with marks between thousands, as the reader writes them. */
export function count(n) {
	return typeof n === "number" ? n.toLocaleString() : SECRET;
}

export function counted(n, one, many = one + "s") {
	return `${count(n)} ${n === 1 ? one : many}`;
}

export function percent(part) {
	return `${Math.floor(part * 100)} %`;
}

/* A parameter's value. */
export function setting(value) {
	return typeof value === "number" || value === null ? number(value) : String(value);
}

export function settings(parameters) {
	return Object.entries(parameters ?? {})
		.map(([name, value]) => `${name}=${setting(value)}`).join(" ");
}

export function duration(seconds) {
	const s = Math.round(seconds);

	if (typeof seconds !== "number" || !Number.isFinite(seconds))
		return "-";
	if (seconds < 0.001)
		return "0 s";
	if (seconds < 10)
		return `${Number(seconds.toPrecision(2))} s`;
	if (s < 60)
		return `${s} s`;
	if (s < 3600)
		return `${Math.floor(s / 60)} min ${s % 60} s`;
	if (s < 86400)
		return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
	return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
}

export function bytes(n) {
	const units = ["bytes", "kB", "MB", "GB"];
	let k = 0, x = n;

	if (typeof n !== "number")
		return "-";
	for (; x >= 1000 && k < units.length - 1; k++)
		x /= 1000;
	return `${k ? x.toPrecision(3) : x} ${units[k]}`;
}

/* The hour, with the day in front if it is another one. */
export function clock(date) {
	const today = date.toDateString() === new Date().toDateString();

	return date.toLocaleString(undefined, today ? { timeStyle: "medium" } :
		{ dateStyle: "medium", timeStyle: "short" });
}

export function hour(date) {
	const today = date.toDateString() === new Date().toDateString();

	return date.toLocaleString(undefined, { hour: "2-digit", minute: "2-digit",
		...(today ? {} : { day: "numeric", month: "short" }) });
}

export function time(iso) {
	return iso ? element("time", { datetime: iso, title: iso }, clock(new Date(iso))) : "-";
}

/* "7", "7@4", "m5" */
export function trialName({ trial, at }) {
	const name = trial >= MEASURING ? `m${trial - MEASURING}` : String(trial);

	return at === null || at === undefined ? name : `${name}@${at}`;
}

export function studyPage(study) {
	return `/studies/${encodeURIComponent(study)}`;
}

export function trialPage(study, { trial, at }) {
	const name = at === null || at === undefined ? trial : `${trial}@${at}`;

	return `${studyPage(study)}/trials/${name}`;
}

export function trialLink(study, point) {
	return element("a", { href: trialPage(study, point) }, `trial ${trialName(point)}`);
}

/* Values of an objective: the privacy ones are bounds. */
export function objective(summary, name, x, digits) {
	return summary.privacy?.includes(name) ? bound(x, digits) : number(x, digits);
}

function range(low, high) {
	return typeof low === "number" && typeof high === "number" ?
		`95 % from ${number(low, 4)} to ${number(high, 4)}` : null;
}

/* What a point or trial has of each objective: [{name, value, sure}], `sure` in words. */
export function measures(summary, point) {
	return summary.objectives.map((name) => {
		const observed = point.objectives?.[name], spread = point.spread?.[name];
		const modelled = point.denoised?.[name];
		const own = range(spread?.low, spread?.high);
		const runs = spread?.runs ? `, ${counted(spread.runs, "run")}` : "";

		if (summary.privacy?.includes(name))
			return { name, value: bound(observed), sure: observed === undefined ? "" : "computed, rounded up" };
		if (typeof modelled !== "number" || !spread)
			return { name, value: number(observed), sure: own ? own + runs : runs.slice(2) };
		return { name, value: number(modelled), sure: [
			"noise taken out", range(point.denoised_low?.[name], point.denoised_high?.[name]),
			`observed ${number(observed)}${runs}`].filter(Boolean).join("; ") };
	});
}

/* The list of these, and of the settings. */
export function details(summary, point) {
	return [
		element("dl", { class: "pairs" }, measures(summary, point).map((m) => [
			element("dt", null, m.name),
			element("dd", null, element("b", null, m.value), " ",
				element("span", { class: "soft" }, m.sure))])),
		element("dl", { class: "pairs settings" },
			Object.entries(point.parameters).map(([name, value]) => [
				element("dt", null, name),
				element("dd", { title: String(value) }, setting(value))])),
	];
}

export function badge(state) {
	return element("span", { class: `badge state ${state}` }, state);
}

/* What of the study is done: {part, words}, or null if that is secret. */
export function progress(s) {
	if (s.evaluations === null || s.evaluations === undefined)
		return null;
	if (s.cost)
		return { part: Math.min(1, s.cost.spent / s.cost.most || 0),
			 words: `cost ${number(s.cost.spent)} of ${number(s.cost.most)}, ` +
				counted(s.ended, "trial") };
	return { part: Math.min(1, s.ended / s.evaluations || 0),
		 words: `${count(s.ended)} of ${count(s.evaluations)}` };
}

export function bar(part, label) {
	return element("progress", { max: 1, value: part, "aria-label": label });
}
