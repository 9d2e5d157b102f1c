/* front.mjs - figure, tile and table agree on what the front is: that of `dparetoctl front`. */
import assert from "node:assert/strict";
import { ask, run, sees, text, until, url } from "./browser.mjs";

await run(async (page) => {
	const front = await ask("front");

	await page.goto(`${url}/studies/s`);
	await until(page, (n) => document.querySelectorAll("#front a").length === n, front.length);
	await sees(page, "#trials tr", "on front");
	const marked = await page.evaluate(() => [...document.querySelectorAll("#trials tbody tr")]
		.filter((row) => row.querySelector(".star")).map((row) => row.dataset.key));

	assert.deepEqual(marked.sort(), front);
	assert.match(await text(page, ".tiles"), new RegExp(`\\b${front.length} points`));
});
