/* control.js - pause, resume, stop, enqueue: what is asked before, and how it is done. */
import { keepToken, post, Refusal, studyApi, token } from "/api.js";
import { element, say } from "/dom.js";

/* A question in a dialog; resolves to its form's data, or null. */
function ask(title, inside, yes) {
	const dialog = element("dialog", { "aria-labelledby": "asked" },
		element("form", { method: "dialog" },
			element("h2", { id: "asked" }, title),
			inside,
			element("p", { class: "buttons" },
				element("button", { value: "yes", class: "main" }, yes),
				element("button", { value: "no", formnovalidate: true }, "Cancel"))));

	document.body.append(dialog);
	dialog.showModal();
	return new Promise((resolve) => dialog.addEventListener("close", () => {
		const data = new FormData(dialog.querySelector("form"));

		dialog.remove();
		resolve(dialog.returnValue === "yes" ? data : null);
	}));
}

async function askToken(wrong) {
	const data = await ask("The token, please", [
		wrong ? element("p", { class: "bad", role: "alert" }, wrong) : null,
		element("p", null, "Whoever changes studies from a browser needs the token that " +
			"dpareto-serve printed when it started, or that is in its token file."),
		element("p", null, element("label", null, "Token ", element("input", {
			name: "token", type: "password", required: true, autocomplete: "off" }))),
	], "Go on");

	if (data)
		keepToken(data.get("token").trim());
	return data !== null;
}

/* Posts, with a token; asks for another one as long as it is refused. False if the reader
 * gave up. */
async function postWithToken(path, body) {
	let wrong = null;

	for (;;) {
		if (!token() && !await askToken(wrong))
			return false;
		try {
			await post(path, body);
			return true;
		} catch (error) {
			if (!(error instanceof Refusal) || ![401, 403].includes(error.status))
				throw error;
			keepToken(null);
			wrong = [error.message, error.hint].filter(Boolean).join("; ");
		}
	}
}

const orders = {
	pause: { done: "is paused: running trials go on, and nothing new starts" },
	resume: { done: "goes on" },
	stop: {
		done: "is stopped",
		title: (study) => `Stop '${study}'?`,
		words: "Trials that run finish, and nothing new starts. Its results stay.",
		yes: "Stop it",
	},
	enqueue: {
		done: "will run these settings next",
		title: () => "Run these settings again?",
		words: "They become the study's next trial, and use up one evaluation.",
		yes: "Run them",
	},
};

/* What may be asked of a study in its state. */
export function ordersOf(summary) {
	const may = { running: ["pause", "stop"], paused: ["resume", "stop"],
		stopped: summary.selection ? [] : ["resume"] };

	return may[summary.state] ?? [];
}

/* Does it, and tells how it went in `place`. */
export async function give(place, order, study, body) {
	const { done, title, words, yes } = orders[order];
	const tell = (css, ...inside) => place.replaceChildren(element("p", { class: css }, ...inside));

	place.replaceChildren();
	if (title && !await ask(title(study), element("p", null, words), yes))
		return;
	try {
		if (await postWithToken(studyApi(study, `/${order}`), body)) {
			tell("good", `The study ${done}.`);
			say(`The study ${done}.`);
		}
	} catch (error) {
		const text = [error.message, error.hint].filter(Boolean);

		tell("bad", text[0], text[1] ? element("span", { class: "hint" }, ` ${text[1]}`) : "");
		say(text.join(". "));
	}
}
