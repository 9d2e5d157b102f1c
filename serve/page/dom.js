/* dom.js - elements, and trees that are brought up to date in place.
 *
 * Views make the tree that they want to see, and morph() makes the one on the screen like
 * it, touching only what differs: scroll positions, selections, the focus and what was
 * typed stay. Children with data-key are found again wherever they went; an element with
 * data-keep belongs to somebody else once it is there. */

/* element("p", {class: "bad"}, "text", child, [more]). Whatever is no node goes in as
 * text; null and false are left out, also as attributes. */
export function element(name, attributes, ...inside) {
	const made = document.createElement(name);

	for (const [key, value] of Object.entries(attributes ?? {}))
		if (value !== null && value !== undefined && value !== false)
			made.setAttribute(key, value === true ? "" : value);
	made.append(...inside.flat(Infinity).filter((child) => child !== null &&
		child !== undefined && child !== false));
	return made;
}

function keyOf(node) {
	return node.dataset?.key;
}

function morphAttributes(old, fresh) {
	for (const { name } of [...old.attributes])
		/* people open folds */
		if (!fresh.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS"))
			old.removeAttribute(name);
	for (const { name, value } of fresh.attributes)
		if (old.getAttribute(name) !== value)
			old.setAttribute(name, value);
}

/* The child of old that becomes `wanted`, if there is one: by its key, or the next one. */
function counterpart(keyed, next, wanted) {
	const key = keyOf(wanted);
	const found = key === undefined ? next : keyed.get(key);

	return found && found.nodeName === wanted.nodeName && keyOf(found) === key ? found : null;
}

function morphChildren(old, fresh) {
	const wants = [...fresh.childNodes];
	const stays = new Set(wants.map(keyOf));
	const keyed = new Map();
	let next;

	for (const child of [...old.childNodes])
		if (keyOf(child) !== undefined && !stays.has(keyOf(child)))
			child.remove();
		else if (keyOf(child) !== undefined)
			keyed.set(keyOf(child), child);
	next = old.firstChild;
	for (const wanted of wants) {
		const found = counterpart(keyed, next, wanted);

		if (!found) {
			old.insertBefore(wanted, next);
			continue;
		}
		if (next !== found && next?.nextSibling === found) {
			next.remove(); /* it went farther down, and is found again there */
			next = found;
		}
		if (next === found)
			next = found.nextSibling;
		else
			old.insertBefore(found, next);
		morph(found, wanted);
	}
	while (next) {
		const gone = next;

		next = next.nextSibling;
		gone.remove();
	}
}

/* Makes old, which stays where it is, look like fresh, which is used up. */
export function morph(old, fresh) {
	if (old.nodeType !== Node.ELEMENT_NODE) {
		if (old.data !== fresh.data)
			old.data = fresh.data;
	} else if (old.dataset.keep === undefined) {
		morphAttributes(old, fresh);
		morphChildren(old, fresh);
	}
}

/* The same for all that is inside of a place. */
export function show(place, ...inside) {
	morphChildren(place, element("div", null, ...inside));
}

/* Tells those who hear the page something that is worth an interruption. */
export function say(text) {
	document.getElementById("said").textContent = text;
}
