/* live.mjs - a study runs while its page is open. Its trainer waits at a gate in every trial; trial 2
 * fails, and says so in markup. */
import assert from "node:assert/strict";
import { ask, run, sees, text, until, url } from "./browser.mjs";

const points = (n) => [(wanted) => document.querySelectorAll("#front a").length >= wanted, n];

/* Numbers in the tip are the front's: epsilon rounded up at the fifth digit, never down. */
async function hover(page) {
	const { front: [point] } = await ask("front");
	const mark = await page.locator("#front a use").first().boundingBox();

	await page.mouse.move(mark.x + mark.width / 2, mark.y + mark.height / 2);
	await page.locator("#front .tip").waitFor();
	const tip = (await text(page, "#front .tip")).replace(/\s+/g, " ");
	const epsilon = Number(/epsilon ([0-9.e+-]+)/.exec(tip)[1]);

	assert.match(tip, /^trial 0 /);
	assert.ok(epsilon >= point.objectives.epsilon, `${epsilon} is below ${point.objectives.epsilon}`);
	assert.ok(epsilon <= point.objectives.epsilon * 1.0001, tip);
	assert.ok(tip.includes(`error ${Number(point.objectives.error.toPrecision(5))} `), tip);
	const { low, high } = point.spread.error;
	assert.ok(tip.includes(`95 % from ${Number(low.toPrecision(4))} to ${Number(high.toPrecision(4))}`), tip);
	assert.ok(tip.includes(`sigma ${Number(point.parameters.sigma.toPrecision(5))}`), tip);
	await page.mouse.move(5, 5);
	await page.locator("#front .tip").waitFor({ state: "hidden" });
}

async function byKeyboard(page) {
	await page.locator('#front a[tabindex="0"]').focus();
	await page.locator("#front .tip").waitFor();
	await page.keyboard.press("Escape");
	await page.locator("#front .tip").waitFor({ state: "hidden" });
}

/* Where the reader is: what is typed, marked and seen. */
const place = (page) => page.evaluate(() => ({
	typed: document.querySelector("#trials input").value,
	focus: document.activeElement.name ?? document.activeElement.tagName,
	marked: getSelection().toString(),
	seen: Math.round(document.querySelector("#trials").getBoundingClientRect().top),
	scrolled: scrollY > 200,
}));

async function keepsItsPlace(page) {
	await page.locator("#trials input").fill("gaussian-nothing");
	await sees(page, "#trials .pager", "none found");
	await page.locator("#trials input").fill("");
	await sees(page, "#trials .pager", "1 to 2 of 2");
	await page.evaluate(() => {
		scrollTo(0, document.body.scrollHeight);
		/* the number of trial 0, which stays while other rows come */
		getSelection().selectAllChildren(document.querySelector("#trials tr[data-key='0'] td.n"));
	});
	const before = await place(page);
	await ask("open", "go-1");
	await until(page, ...points(2));
	await sees(page, "#trials .pager", "of 3");
	const after = await place(page);
	assert.equal(before.scrolled, true);
	assert.ok(before.marked.length > 2);
	assert.ok(Math.abs(before.seen - after.seen) <= 2, `${before.seen} became ${after.seen}`);
	assert.deepEqual({ ...after, seen: 0 }, { ...before, seen: 0 });
}

async function failure(page) {
	await ask("open", "go-2");
	await sees(page, "section", "<script>window.broken=1</script>");
	assert.match(await text(page, '[data-key="Failures"]'), /trial 2[\s\S]*exit-code[\s\S]*exit code 1/);
	await sees(page, "#trials tr[data-key='2']", "failed");
	assert.equal(await page.evaluate(() => window.broken ?? document.images.length), 0);
}

/* The log of trial 3, which is at its gate, follows; unless the reader has scrolled up. */
async function log(page) {
	await page.locator('[data-key="Running"] a', { hasText: "trial 3" }).click();
	await page.waitForURL("**/trials/3");
	await sees(page, ".log", "trial 3 begins <b>here</b>");
	await ask("open", "talk-3");
	await sees(page, ".log", "line 199");
	await until(page, () => {
		const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".log");
		return scrollHeight > clientHeight && scrollHeight - scrollTop - clientHeight < 2;
	});
	await page.evaluate(() => { document.querySelector(".log").scrollTop = 30; });
	await ask("open", "more-3");
	await sees(page, ".log", "line 299");
	assert.equal(await page.evaluate(() => document.querySelector(".log").scrollTop), 30);
	await page.locator("#stream").selectOption("stdout");
	await sees(page, ".log", "on stdout");
	await ask("open", "go-3");
	await sees(page, ".state-line", "ok");
	await sees(page, "#log .tools", "ended (ok)");
}

await run(async (page) => {
	await page.goto(`${url}/studies/s`);
	await sees(page, '[data-key="Running"]', "trial 0");
	await sees(page, "#front", "No result yet");
	assert.equal(await page.locator('[data-key="Running"] progress').getAttribute("value"), "0.25");
	await ask("open", "go-0");
	await until(page, ...points(1));
	await hover(page);
	await byKeyboard(page);
	await keepsItsPlace(page);
	await failure(page);
	await log(page);
	await page.goto(`${url}/studies/s`);
	await until(page, ...points(3));
	await ask("open", "go-4");
	await sees(page, ".state-line", "finished");
	await page.locator("#front a").first().click();
	await page.waitForURL("**/studies/s/trials/*");
	await sees(page, "h1", "Trial ");
});
