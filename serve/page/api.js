/* api.js - requests to dpareto-serve, and the token that some of them need. */

const KEY = "dpareto-token";
const PATIENCE = 60_000; /* ms: the models of a study that runs take their time */

/* An answer that is none: a sentence, what to do, and what kind it is. */
export class Refusal extends Error {
	constructor(status, error) {
		super(error?.message ?? `the server answered ${status}`);
		this.status = status;
		this.kind = error?.kind ?? "unknown";
		this.hint = error?.hint ?? null;
	}
}

/* dpareto-serve itself did not answer. */
export class Unreachable extends Error {}

async function request(path, options) {
	let answer, text;

	try {
		answer = await fetch(path, { cache: "no-store",
			signal: AbortSignal.timeout(PATIENCE), ...options });
		text = await answer.text();
	} catch {
		throw new Unreachable("dpareto-serve does not answer");
	}
	if (answer.ok)
		return text;
	let error = null;
	try {
		({ error } = JSON.parse(text));
	} catch {
		/* a proxy's page: the number has to do */
	}
	throw new Refusal(answer.status, error);
}

export const getText = (path) => request(path);

export async function get(path) {
	return JSON.parse(await request(path));
}

export function post(path, body) {
	return request(path, {
		method: "POST",
		headers: { "Content-Type": "application/json", "X-DPareto-Token": token() ?? "" },
		body: JSON.stringify(body ?? {}),
	});
}

export function studyApi(study, rest = "") {
	return `/api/studies/${encodeURIComponent(study)}${rest}`;
}

/* ---- the token: it lives as long as the tab ---- */

export function token() {
	return sessionStorage.getItem(KEY);
}

export function keepToken(text) {
	if (text)
		sessionStorage.setItem(KEY, text);
	else
		sessionStorage.removeItem(KEY);
}

/* Signs in: the server answers with a cookie, which pictures and events need as well. */
export async function signIn(text) {
	await request("/login", { method: "POST", body: new URLSearchParams({ token: text }) });
	keepToken(text);
}

/* "/#token=XXXX": taken out of the address, so that it is neither copied nor bookmarked. */
export function tokenOfAddress() {
	const found = new URLSearchParams(location.hash.slice(1)).get("token");

	if (found)
		history.replaceState(null, "", location.pathname + location.search);
	return found;
}
