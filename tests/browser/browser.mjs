/* browser.mjs - a real browser for the scripts beside it. test_web_browser.py starts them, with the
 * server's address in DPARETO_URL, and does for them what they ask it to: ask("kill"). */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(process.env.DPARETO_MODULES, "from-here.js"));
const { chromium } = require("playwright-core");

export const LIMIT = 1000 * Number(process.env.DPARETO_TEST_LIMIT ?? 120); /* ms; only failures wait so long */
export const url = process.env.DPARETO_URL;
export const axePath = require.resolve("axe-core/axe.min.js");

const lines = createInterface({ input: process.stdin });
const answers = lines[Symbol.asyncIterator]();

/* Has the test do something; its answer is JSON. */
export async function ask(what, ...with_) {
	process.stdout.write(`${JSON.stringify([what, ...with_])}\n`);
	const { value, done } = await answers.next();

	if (done)
		throw new Error(`the test did not answer to ${what}`);
	return JSON.parse(value);
}

/* Everything that a page must not do, noted. */
export function watch(page, faults) {
	page.on("console", (message) => {
		if (["error", "warning"].includes(message.type()))
			faults.push(`console: ${message.text()} (${message.location().url})`);
	});
	page.on("pageerror", (error) => faults.push(`uncaught: ${error.stack}`));
	page.on("dialog", (dialog) => {
		faults.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on("request", (request) => {
		const to = request.url();

		if (!to.startsWith(`${url}/`) && !to.startsWith("data:"))
			faults.push(`request to ${to}`);
	});
}

/* Opens a browser, runs story(page, context) in it and fails on any fault that was not
 * expected. */
export async function run(story, { expected = () => false, ...options } = {}) {
	const profile = mkdtempSync(join(tmpdir(), "dpareto-chromium-"));
	const faults = [];
	let context;

	try {
		context = await chromium.launchPersistentContext(profile, {
			executablePath: process.env.DPARETO_CHROMIUM,
			args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
				"--no-first-run", "--disable-background-networking",
				"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
			viewport: { width: 1280, height: 800 },
			locale: "en-GB", timezoneId: "Europe/Berlin",
			...options,
		});
		context.setDefaultTimeout(LIMIT);
		const page = context.pages()[0] ?? await context.newPage();

		watch(page, faults);
		await story(page, context);
		const bad = faults.filter((fault) => !expected(fault));
		if (bad.length)
			throw new Error(bad.join("\n"));
	} finally {
		await context?.close();
		rmSync(profile, { recursive: true, force: true });
		lines.close(); /* nothing more is asked: the script may end */
		process.stdin.destroy();
	}
}

/* Waits until look(), run in the page, is true. */
export function until(page, look, argument) {
	return page.waitForFunction(look, argument, { timeout: LIMIT, polling: 50 });
}

export function text(page, selector) {
	return page.locator(selector).first().innerText();
}

/* Waits until the element has this text somewhere. */
export function sees(page, selector, words) {
	return until(page, ([where, what]) => [...document.querySelectorAll(where)]
		.some((node) => node.textContent.includes(what)), [selector, words]);
}
