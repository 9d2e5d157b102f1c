/* many.mjs - 10,000 trials, which the server pages, sorts and filters; what the first page weighs. */
import assert from "node:assert/strict";
import { ask, run, sees, until, url } from "./browser.mjs";

const HEAVIEST = 150_000; /* bytes of a first visit */
const column = (page, name) => page.evaluate((head) => {
	const at = [...document.querySelectorAll("#trials thead th")]
		.findIndex((th) => th.textContent.startsWith(head));
	return [...document.querySelectorAll("#trials tbody tr")]
		.map((tr) => Number(tr.children[at].title || tr.children[at].textContent));
}, name);
const increases = (list) => list.every((x, i) => i === 0 || list[i - 1] <= x);

await run(async (page) => {
	const { study, objective, total } = await ask("subject");
	let weight = 0;

	page.on("response", async (response) => {
		if (!response.url().endsWith("/api/events"))
			weight += (await response.body().catch(() => "")).length;
	});
	await page.goto(`${url}/`);
	await sees(page, "table.studies", study);
	await page.locator("img.spark").first().waitFor();
	assert.ok(weight > 1000 && weight < HEAVIEST, `the first page has ${weight} bytes`);

	await page.goto(`${url}/studies/${study}`);
	await sees(page, "#trials .pager", `1 to 50 of ${total.toLocaleString("en-GB")}`);
	assert.equal(await page.locator("#trials tbody tr").count(), 50);
	await page.locator(`#trials button[data-sort="${objective}"]`).click();
	await page.locator("#trials th[aria-sort=ascending]", { hasText: objective }).waitFor();
	await until(page, () => !document.querySelector("#trials tr[data-key='" + 9999 + "']"));
	assert.ok(increases(await column(page, objective)));
	await page.locator(`#trials button[data-sort="${objective}"]`).click();
	await page.locator("#trials th[aria-sort=descending]").waitFor();
	assert.ok(increases((await column(page, objective)).reverse()));
	await page.locator("#trials button", { hasText: "Last" }).click();
	await sees(page, "#trials .pager", `${(total - 49).toLocaleString("en-GB")} to`);
	await page.locator("#trials input").fill("trial<=9");
	await sees(page, "#trials .pager", "1 to 10 of 10");
	await page.locator("#trials select").selectOption("failed");
	await sees(page, "#trials .pager", "none found");
	assert.match(page.url(), /status=failed/);
	await page.reload(); /* the address knows what was looked for */
	await sees(page, "#trials .pager", "none found");
	assert.equal(await page.locator("#trials input").inputValue(), "trial<=9");
	await page.locator("#front svg").waitFor();
});
