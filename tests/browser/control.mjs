/* control.mjs - pause, resume, stop, enqueue, with the token that the server printed. */
import assert from "node:assert/strict";
import { ask, run, sees, text, url } from "./browser.mjs";

const order = (page, name) => page.locator(`button[data-order="${name}"]`).first().click();
const state = (page, name) => sees(page, ".state-line .badge", name);
/* The browser notes that a wrong token and an epsilon that cannot be had are refused, and what is
 * asked of a study just before it is heard that it was deleted. */
let deleted = false;
const expected = (fault) => /status of 40[139]/.test(fault) || (deleted && /status of 404/.test(fault));

async function giveToken(page, token) {
	await page.locator("dialog input").fill(token);
	await page.locator("dialog button.main").click();
}

await run(async (page) => {
	const token = await ask("token");

	await page.goto(`${url}/studies/s`);
	await state(page, "running");
	await order(page, "pause");
	await giveToken(page, "not-the-token");
	await sees(page, "dialog [role=alert]", "token");
	assert.equal((await ask("status")).study.state, "running");
	await giveToken(page, token);
	await state(page, "paused");
	await sees(page, ".state-line", "from 127.0.0.1"); /* who it was */

	await order(page, "stop"); /* asks first */
	await page.locator("dialog button", { hasText: "Cancel" }).click();
	await order(page, "resume");
	await state(page, "running");

	await order(page, "enqueue");
	await page.locator("dialog button.main").click();
	await sees(page, "#told", "will run these settings next");
	await sees(page, "#trials", "enqueued");

	/* a point that nobody tested, by the models */
	await page.locator("#ask summary").click();
	await page.locator("#ask input").fill("0.00001");
	await page.locator("#ask button", { hasText: "Ask" }).click();
	await sees(page, "#ask .bad", "no setting of this study has epsilon at most 1e-05");
	await page.locator("#ask input").fill("1");
	await page.locator("#ask button", { hasText: "Ask" }).click();
	await sees(page, "#ask dl", "95 % from");
	await page.locator("#ask button", { hasText: "Run these" }).click();
	await page.locator("dialog button.main").click();
	await sees(page, "#told", "will run these settings next");

	await order(page, "stop");
	await page.locator("dialog button.main").click();
	await state(page, "stopped");
	assert.equal((await ask("status")).study.state, "stopped");

	deleted = await ask("delete") !== null;
	await sees(page, "main", "This study was deleted");
	assert.match(await text(page, "main"), /All studies/);
}, { expected });
