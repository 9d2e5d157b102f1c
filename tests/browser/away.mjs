/* away.mjs - the daemon is killed and comes back; so is dpareto-serve itself. */
import assert from "node:assert/strict";
import { ask, run, sees, text, until, url } from "./browser.mjs";

const well = () => document.getElementById("away").textContent === "" &&
	document.getElementById("live").textContent === "live";

/* Refused connections and answers of a server without its daemon are what this is about. */
const expected = (fault) => /^console: Failed to load resource: (net::ERR_|the server responded with a status of 503)/.test(fault);

await run(async (page) => {
	await page.goto(`${url}/studies/s`);
	await sees(page, ".state-line", "finished");
	await until(page, well);
	await ask("kill");
	await sees(page, "#away", "The daemon is away since ");
	assert.match(await text(page, "#away"), /as of \d\d:\d\d/);
	await sees(page, ".state-line", "finished"); /* what was known stays */
	await ask("start");
	await sees(page, "#back", "The daemon is back since ");
	await until(page, well);

	await ask("kill_serve");
	await sees(page, "#away", "dpareto-serve does not answer since ");
	await ask("start_serve");
	await sees(page, "#back", "dpareto-serve is back since ");
	await until(page, well);
	await page.goto(`${url}/`);
	await sees(page, "tr[data-key='s']", "finished");
	await ask("submit"); /* and events arrive again */
	await sees(page, "tr[data-key='third']", "paused");
}, { expected });
