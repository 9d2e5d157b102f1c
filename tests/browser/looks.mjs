/* looks.mjs - no page is wider than the screen, and axe finds nothing serious in light or dark.
 * With DPARETO_SHOTS a folder, pictures of all of them are there afterwards. */
import { join } from "node:path";
import { axePath, run, sees, until, url } from "./browser.mjs";

const PAGES = [
	["studies", "/", "table.studies"],
	["study", "/studies/s", "#front svg"],
	["trial", "/studies/s/trials/2", ".log"],
	["empty", "/studies/empty", "#front p"],
	["name", `/studies/${"n".repeat(64)}`, "[data-key=Failures] li"],
	["compare", "/compare?study=s&study=other", "#fronts svg"],
	["missing", "/studies/nobody", "main h1"],
];
const WIDTHS = [320, 400, 1280];
const shots = process.env.DPARETO_SHOTS;

const wide = () => [...document.querySelectorAll("body *")].filter((node) =>
	!node.closest(".table, svg *, .unseen, caption, .cards thead, .skip, [hidden]") &&
	node.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
	.map((node) => node.outerHTML.slice(0, 120));

async function axe(page, options) {
	const { violations } = await page.evaluate((o) => window.axe.run(o), options);

	return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
		.map(({ id, nodes }) => `${id}: ${nodes.map((n) => `${n.html.slice(0, 160)} ${n.any[0]?.message ?? ""}`).join(" | ")}`);
}

await run(async (page, context) => {
	const bad = [];

	await context.addInitScript({ path: axePath }); /* the page itself lets no other script in */
	for (const [name, path, there] of PAGES) {
		await page.goto(url + path);
		await page.locator(there).first().waitFor();
		bad.push(...(await axe(page, {})).map((fault) => `${name}: ${fault}`));
		await page.emulateMedia({ colorScheme: "dark" });
		bad.push(...(await axe(page, { runOnly: ["color-contrast"] })).map((fault) => `${name}, dark: ${fault}`));
		for (const width of WIDTHS) {
			await page.setViewportSize({ width, height: 800 });
			const [scroll, client] = await page.evaluate(() => [document.documentElement.scrollWidth,
				document.documentElement.clientWidth]);

			if (scroll > client)
				bad.push(`${name} is ${scroll} wide at ${width}`);
			bad.push(...(await page.evaluate(wide)).map((node) => `${name} at ${width}: ${node}`));
			for (const colorScheme of shots ? ["light", "dark"] : []) {
				await page.emulateMedia({ colorScheme });
				await page.waitForTimeout(700); /* pictures for people: figures are drawn anew */
				await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true });
			}
		}
		await page.emulateMedia({ colorScheme: "light" });
	}
	await page.goto(`${url}/`);
	await sees(page, "tr[data-key='s']", "finished");
	await until(page, () => [...document.querySelectorAll("img.spark")].every((i) => i.complete && i.naturalWidth));
	if (bad.length)
		throw new Error(bad.join("\n"));
}, { expected: (fault) => fault.includes("/api/studies/nobody") || fault.includes("/studies/nobody") });
