import DOMPurify from "dompurify";
import { openable } from "./links";
import { escape, PLAIN_EXTRAS, toHtml, type Extras } from "./markdown";
import { isOwnPicture } from "./pictures";

const TAGS = "a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i img li ol p pre q s strong sub sup table tbody td th thead tr u ul".split(" ");
/** Blocks with their own text direction, because the script may change between paragraphs. */
const BLOCKS = "p, h1, h2, h3, h4, h5, h6, td, th";
/** Blocks whose marks and padding are on the side where their text begins. `dir=auto` would skip the blocks inside. */
const SIDED = "ul, ol, table, blockquote";
/** The first letter decides the direction, as with `dir=auto`. */
const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A single line of text without Markdown. */
const EASY = /^\p{L}[\p{L}\p{N}\p{M} ,.;!?'’…—–-]*$/u;

const purifier = DOMPurify(window);
/** Part of the placeholders of our own HTML. It is random, so that no text can forge a placeholder. */
const secret = crypto.getRandomValues(new Uint32Array(4)).join("-");
/** Separates texts that are sanitized together. */
const BETWEEN = `<p>${secret}</p>`;
const PLACE = new RegExp(`\uE000${secret}:(\\d+)\uE001`);
const PLACES = new RegExp(PLACE, "g");

purifier.addHook("uponSanitizeAttribute", (element, attribute) => {
	const { attrName, attrValue } = attribute;
	if (attrName === "src") attribute.keepAttr = attribute.forceKeepAttr = element.nodeName === "IMG" && isOwnPicture(attrValue);
	if (attrName === "href") attribute.keepAttr = element.nodeName === "A";
	// Raw HTML may leave an attribute open, which then swallows a placeholder.
	if (attrValue.includes(secret)) attribute.keepAttr = false;
});

/**
 * The only conversion of a model's or card's text to HTML. It fetches nothing, and links do not navigate by themselves.
 * Classes, styles and ids of the text are removed. A text that fails to parse as Markdown is shown as plain text.
 */
export function render(text: string, extras: Extras = PLAIN_EXTRAS): string {
	return easy(text) ?? together([text], extras)[0] ?? plain(text);
}

/** Renders each text like `render`. Sanitizing all texts at once is several times faster. */
export function renderAll(texts: string[], extras: Extras = PLAIN_EXTRAS): string[] {
	// Raw HTML may leave an element open, which would enclose the next text.
	const many = texts.filter((text) => !text.includes("<") && easy(text) === null);
	const done = many.length < 2 ? [] : together(many, extras);
	const known = new Map(many.map((text, at) => [text, done[at]]));
	return texts.map((text) => known.get(text) ?? render(text, extras));
}

function easy(text: string): string | null {
	const words = text.trim();
	return EASY.test(words) && !/www\./i.test(words) ? `<p dir="auto">${words}</p>` : null;
}

function together(texts: string[], extras: Extras): string[] {
	const pieces: string[] = [];
	const keep = (html: string) => `\uE000${secret}:${pieces.push(html) - 1}\uE001`;
	try {
		const body = sanitized(texts.map((text) => toHtml(text, { keep }, extras)).join(BETWEEN));
		finish(body, extras);
		place(body, pieces);
		return apart(body);
	} catch {
		return texts.length === 1 ? texts.map(plain) : texts.map((text) => render(text, extras));
	}
}

/** Splits the sanitized HTML at the separators. */
function apart(body: DocumentFragment): string[] {
	const page = document.createElement("template");
	const all: string[] = [];
	for (const node of [...body.childNodes]) {
		if (node.textContent === secret) {
			all.push(page.innerHTML.trim());
			page.content.replaceChildren();
		} else page.content.append(node);
	}
	return [...all, page.innerHTML.trim()];
}

/** Renders a text without Markdown. */
export function plain(text: string): string {
	return `<p class="plain" dir="auto">${escape(text.trim())}</p>`;
}

function sanitized(html: string): DocumentFragment {
	return purifier.sanitize(html, {
		ALLOWED_TAGS: TAGS,
		ALLOWED_ATTR: ["title", "alt", "src", "href", "start", "value", "align"],
		ALLOW_DATA_ATTR: false,
		ALLOW_ARIA_ATTR: false,
		ADD_URI_SAFE_ATTR: ["title"],
		RETURN_DOM_FRAGMENT: true,
	});
}

/** Adds text directions, link handling and layout to the sanitized HTML. */
function finish(body: DocumentFragment, extras: Extras): void {
	for (const block of body.querySelectorAll(BLOCKS)) block.setAttribute("dir", "auto");
	// Code does not decide the direction of the text around it: `dir=auto` skips elements with a direction.
	for (const code of body.querySelectorAll("code, pre")) code.setAttribute("dir", "ltr");
	direct(body);
	for (const link of body.querySelectorAll("a")) address(link, extras);
	for (const picture of body.querySelectorAll("img:not([src])")) picture.replaceWith(picture.getAttribute("alt") ?? "");
	for (const list of body.querySelectorAll("ol")) list.dataset.digits = String(digits(list));
	for (const table of body.querySelectorAll("table")) scrolling(table);
}

/**
 * Sets the directions of lists, tables and quotations. The first letter in a block decides; without one it has the direction of
 * its surroundings. One pass over the texts, because raw HTML may nest thousands of blocks.
 */
function direct(body: DocumentFragment): void {
	const rightToLeft = new Map<Element, boolean>();
	const walker = document.createTreeWalker(body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => (node.nodeName === "CODE" || node.nodeName === "PRE" ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
	while (walker.nextNode()) {
		const node = walker.currentNode;
		const letter = node instanceof Text ? LETTER.exec(node.data.replaceAll(PLACES, ""))?.[0] : undefined;
		if (letter === undefined) continue;
		const is = RIGHT_TO_LEFT.test(letter);
		// The blocks around a block with a direction have met an earlier letter.
		for (let block = node.parentElement?.closest(SIDED); block && !rightToLeft.has(block); block = block.parentElement?.closest(SIDED)) rightToLeft.set(block, is);
	}
	for (const [block, is] of rightToLeft) {
		if (is) block.setAttribute("dir", "rtl");
		// The window itself runs from left to right.
		else if (rightToLeft.get(block.parentElement?.closest(SIDED) ?? block)) block.setAttribute("dir", "ltr");
	}
}

/** The digits of the longest number in a list, which set its indentation. */
function digits(list: HTMLOListElement): number {
	return Math.max(1, ...[...list.children].map((item) => (item.getAttribute("value") ?? "").length));
}

/** Makes a link show its target, and lets the page ask before opening it. */
function address(link: HTMLAnchorElement, extras: Extras): void {
	const href = link.getAttribute("href");
	link.removeAttribute("href");
	if (href === null) return;
	const topic = extras.topic?.(href) ?? null;
	if (topic !== null) return lead(link, "topic", topic);
	const target = openable(href);
	link.title = target ?? href;
	if (target !== null) lead(link, "address", target);
}

/** Makes the page follow a link, and makes it reachable by keyboard. */
function lead(link: HTMLAnchorElement, name: "address" | "topic", target: string): void {
	link.dataset[name] = target;
	link.setAttribute("role", "link");
	link.tabIndex = 0;
}

/** Wraps a table in its own scrollable box. */
function scrolling(table: HTMLTableElement): void {
	const box = document.createElement("div");
	box.className = "table";
	box.tabIndex = 0;
	table.replaceWith(box);
	box.append(table);
}

/** Replaces the placeholders with our own HTML. */
function place(body: DocumentFragment, pieces: string[]): void {
	if (pieces.length === 0) return;
	const texts: Text[] = [];
	const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) texts.push(walker.currentNode as Text);
	for (const text of texts) put(text, pieces);
}

function put(text: Text, pieces: string[]): void {
	for (let rest = text; ; ) {
		const found = PLACE.exec(rest.data);
		if (!found) return;
		const after = rest.splitText(found.index).splitText(found[0].length);
		const piece = document.createElement("template");
		piece.innerHTML = pieces[Number(found[1])] ?? "";
		const mark = after.previousSibling as Text;
		// The `pre` element around code was only part of the placeholder.
		const box = mark.parentElement;
		if (box?.tagName === "PRE" && box.childNodes.length <= 3 && piece.content.firstElementChild?.tagName === "FIGURE") box.replaceWith(piece.content);
		else mark.replaceWith(piece.content);
		rest = after;
	}
}
