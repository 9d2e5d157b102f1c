/* signin.mjs - a server with a token file shows nothing until one has signed in. */
import assert from "node:assert/strict";
import { ask, run, sees, url } from "./browser.mjs";

const expected = (fault) => /status of 401/.test(fault);

await run(async (page, context) => {
	const token = await ask("token");

	await page.goto(`${url}/`);
	await page.locator("#sign-in").waitFor();
	assert.equal(await page.locator("table.studies").count(), 0);
	await page.locator("#token").fill("wrong");
	await page.locator("#sign-in button").click();
	await sees(page, "#sign-in [role=alert]", "token");
	await page.locator("#token").fill(token);
	await page.locator("#sign-in button").click();
	await sees(page, "table.studies", "other");

	/* a link with the token in it, once: it does not stay in the address */
	await context.clearCookies();
	await page.goto("about:blank");
	await page.goto(`${url}/studies/other#token=${token}`);
	await sees(page, "h1", "other");
	assert.equal(page.url(), `${url}/studies/other`);
}, { expected });
