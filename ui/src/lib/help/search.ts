import type { HelpPage, Topic } from "./pages";

export interface Hit {
	topic: Topic;
	title: string;
	/** Title of the page; empty if the hit is the whole page. */
	page: string;
	/** The text around the first match; empty if only titles match. */
	before: string;
	match: string;
	after: string;
}

/** Maximum number of results. */
const MOST = 40;
/** Characters shown before and after a match. */
const BEFORE = 32;
const AFTER = 90;

/** Finds the sections that contain all words of the query, best first. Matches in titles rank above matches in text. */
export function searchHelp(pages: readonly HelpPage[], query: string): Hit[] {
	const words = folded(query).split(/\s+/).filter(Boolean);
	if (words.length === 0) return [];
	const ranked = pages.flatMap((page) => hitsOf(page, words));
	return ranked
		.sort((a, b) => b.score - a.score)
		.slice(0, MOST)
		.map(({ hit }) => hit);
}

function hitsOf(page: HelpPage, words: string[]): { hit: Hit; score: number }[] {
	const whole = { topic: page.name as Topic, title: page.title, page: "", text: page.intro };
	const parts = page.sections.map(({ id, title, text }) => ({ topic: `${page.name}#${id}` as Topic, title, page: page.title, text }));
	return [whole, ...parts].flatMap(({ text, ...part }) => {
		const plain = plainText(text);
		const [title, body, named] = [folded(part.title), folded(plain), folded(page.title)];
		const inTitle = words.filter((word) => title.includes(word)).length;
		const missing = words.some((word) => !title.includes(word) && !body.includes(word) && !named.includes(word));
		// A section that matches only through the title of its page would repeat the page.
		const own = words.some((word) => title.includes(word) || body.includes(word));
		if (missing || !own) return [];
		const score = inTitle * 4 + (part.page === "" ? 1 : 0) + words.filter((word) => body.includes(word)).length;
		return [{ hit: { ...part, ...excerpt(plain, body, words) }, score }];
	});
}

/** The text around the first word that occurs in it. */
function excerpt(plain: string, body: string, words: string[]): Pick<Hit, "before" | "match" | "after"> {
	const found = words.map((word) => ({ word, at: body.indexOf(word) })).filter(({ at }) => at >= 0);
	const first = found.sort((a, b) => a.at - b.at)[0];
	if (!first) return { before: "", match: "", after: "" };
	const { at, word } = first;
	const from = at <= BEFORE ? 0 : plain.indexOf(" ", at - BEFORE) + 1 || at;
	const start = Math.min(from, at);
	const end = at + word.length;
	const to = end + AFTER >= plain.length ? plain.length : Math.max(end, plain.lastIndexOf(" ", end + AFTER));
	return { before: (start > 0 ? "… " : "") + plain.slice(start, at), match: plain.slice(at, end), after: plain.slice(end, to) + (to < plain.length ? " …" : "") };
}

/** Removes the Markdown marks that the help uses. */
export function plainText(markdown: string): string {
	return markdown
		.replace(/^```.*$/gm, "")
		.replace(/^[ \t]*\|[ :|-]+\|[ \t]*$/gm, "")
		.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
		.replace(/\*\*|`/g, "")
		.replace(/^[ \t]*(?:[-*]|\d+\.|>)[ \t]+/gm, "")
		.replace(/[ \t]*\|[ \t]*/g, " ")
		.replace(/\s+/g, " ")
		.trim();
}

/** Folds case and accents. The length stays the same, so that positions apply to the original text. */
function folded(text: string): string {
	return [...text].map((letter) => fold(letter)).join("");
}

function fold(letter: string): string {
	const plain = letter.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
	return plain.length === letter.length ? plain : letter;
}
