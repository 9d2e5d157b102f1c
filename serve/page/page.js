/* page.js - which view the address means, and who may see it. */
import { get, keepToken, Refusal, signIn, tokenOfAddress } from "/api.js";
import { compareView } from "/compare.js";
import { element, show } from "/dom.js";
import { follow } from "/live.js";
import { studiesView } from "/studies.js";
import { studyView } from "/study.js";
import { studyPage } from "/text.js";
import { trialView } from "/trial.js";

const main = document.getElementById("main");

function trail(...steps) {
	const links = [["DPareto", "/"], ...steps].map(([text, href], i, all) => [
		i ? " › " : null,
		element("a", { href, "aria-current": i === all.length - 1 ? "page" : null }, text)]);

	show(document.getElementById("trail"), links);
}

function viewOf(path, session) {
	const [, , study, , trial] = path.split("/").map(decodeURIComponent);

	if (path === "/compare") {
		trail(["compare", location.href]);
		return compareView(main, new URLSearchParams(location.search).getAll("study"));
	}
	if (study && trial) {
		trail([study, studyPage(study)], [`trial ${trial}`, path]);
		return trialView(main, study, trial, session);
	}
	if (study) {
		trail([study, path]);
		return studyView(main, study, session);
	}
	trail();
	return studiesView(main);
}

/* ---- signing in ---- */

function showSignIn(wrong) {
	const there = document.getElementById("sign-in");

	show(main, element("h1", null, "Sign in"),
		element("p", null, "This page shows studies to those who know the token."),
		element("form", { method: "post", action: "/login", id: "sign-in", class: "card" },
			element("label", { for: "token" }, "Token"),
			element("input", { id: "token", name: "token", type: "password", required: true,
				autocomplete: "current-password" }),
			element("button", { class: "main" }, "Sign in"),
			element("p", { class: "bad", role: "alert" }, wrong)));
	if (there)
		return; /* the same one, with another sentence */
	document.getElementById("sign-in").addEventListener("submit", async (event) => {
		event.preventDefault();
		try {
			await signIn(document.getElementById("token").value.trim());
			location.reload();
		} catch (error) {
			showSignIn([error.message, error.hint].filter(Boolean).join("; "));
		}
	});
	document.getElementById("token").focus();
}

/* Answers that are none: a sentence above what is shown. */
function refused(error) {
	const place = document.getElementById("refused");

	if (error?.status === 401)
		showSignIn("");
	else if (error?.status === 404)
		show(main, element("h1", null, "Not found"), element("p", null, error.message),
			element("p", null, element("a", { href: "/" }, "All studies")));
	else if (error)
		show(place, element("p", { class: "bad" }, error.message),
			error.hint ? element("p", null, error.hint) : null);
	else if (place?.firstChild)
		show(place);
}

async function start() {
	const given = tokenOfAddress();
	let session;

	try {
		if (given)
			await signIn(given).catch(() => keepToken(given)); /* one for control alone */
		session = await get("/api/session");
	} catch (error) {
		if (!(error instanceof Refusal))
			return setTimeout(start, 2000);
		if (error.status === 401)
			return showSignIn("");
		throw error;
	}
	if (session.token && session.signed_in === false)
		return showSignIn("");
	main.before(element("div", { id: "refused", role: "alert" }));
	follow(viewOf(location.pathname, session), refused);
}

start();
