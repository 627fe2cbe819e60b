import type { HelpPage, Topic } from "./pages";
import { COMMON_TOPICS, TOPIC_WORDS } from "./words";

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
/** Number of topics that are offered when nothing matches. */
const NEAREST = 5;
/** Characters shown before and after a match. */
const BEFORE = 32;
const AFTER = 90;

/** Points for a word in the title of a section, among its other names, and in its text. */
const [IN_TITLE, IN_NAMES, IN_TEXT] = [4, 3, 1];
/** Words shorter than this have no nearest word. */
const SHORTEST = 4;

interface Ranked {
	hit: Hit;
	score: number;
	/** Every word of the query matches. */
	complete: boolean;
}

/** Finds the sections that match all words of the query, best first. Matches in titles rank above matches in text. */
export function searchHelp(pages: readonly HelpPage[], query: string): Hit[] {
	return best(ranked(pages, wordsOf(query)).filter(({ complete }) => complete));
}

/** The nearest topics for a query without a result: those that match some of its words or similar ones, or else the common ones. */
export function nearestHelp(pages: readonly HelpPage[], query: string): Hit[] {
	const words = wordsOf(query);
	const some = ranked(pages, words);
	const near = some.length > 0 ? some : ranked(pages, words.map((word) => similar(pages, word)));
	if (near.length > 0) return best(near).slice(0, NEAREST);
	return COMMON_TOPICS.flatMap((topic) => pages.filter(({ name }) => name === topic).map(({ title }) => ({ topic, title, page: "", before: "", match: "", after: "" })));
}

const best = (all: Ranked[]): Hit[] =>
	all
		.sort((a, b) => b.score - a.score)
		.slice(0, MOST)
		.map(({ hit }) => hit);

const wordsOf = (query: string): string[] => folded(query).split(/[^\p{L}\p{N}.+#'-]+/u).filter((word) => word !== "" && !FILLERS.has(word));

/** Words of a question that say nothing about its topic. */
const FILLERS = new Set("a an the is are do does i my me how what where why can to of for in on it with der die das ein eine ist sind ich mein meine wie was wo warum kann zu von für im in auf es mit".split(" "));

function ranked(pages: readonly HelpPage[], words: string[]): Ranked[] {
	return words.length === 0 ? [] : pages.flatMap((page) => hitsOf(page, words));
}

function hitsOf(page: HelpPage, words: string[]): Ranked[] {
	const whole = { topic: page.name as Topic, title: page.title, page: "", text: page.intro };
	const parts = page.sections.map(({ id, title, text }) => ({ topic: `${page.name}#${id}` as Topic, title, page: page.title, text }));
	return [whole, ...parts].flatMap(({ text, ...part }) => {
		const plain = plainText(text);
		const [title, body, named, names] = [folded(part.title), folded(plain), folded(page.title), folded(TOPIC_WORDS[part.topic] ?? "").split(" ")];
		// A short word such as "an" is part of many others, so a name of the topic has to begin with it.
		const isName = (word: string) => names.some((name) => name === word || (word.length >= SHORTEST && name.startsWith(word)));
		const points = (word: string) => (title.includes(word) ? IN_TITLE : 0) + (isName(word) ? IN_NAMES : 0) + (body.includes(word) ? IN_TEXT : 0);
		const own = words.filter((word) => points(word) > 0);
		// A section that matches only through the title of its page would repeat the page.
		if (own.length === 0) return [];
		const complete = words.every((word) => points(word) > 0 || named.includes(word));
		const score = words.reduce((sum, word) => sum + points(word), 0) + (part.page === "" ? 1 : 0);
		return [{ hit: { ...part, ...excerpt(plain, body, words) }, score, complete }];
	});
}

/** The word of the help that is nearest to a mistyped one; the word itself if none is near. */
function similar(pages: readonly HelpPage[], word: string): string {
	if (word.length < SHORTEST) return word;
	const titles = pages.flatMap(({ title, sections }) => [title, ...sections.map((section) => section.title)]);
	const known = new Set(folded([...titles, ...Object.values(TOPIC_WORDS)].join(" ")).match(/[\p{L}\p{N}]{4,}/gu) ?? []);
	const near = [...known].map((other) => ({ other, distance: editDistance(word, other) })).sort((a, b) => a.distance - b.distance)[0];
	return near && near.distance <= Math.ceil(word.length / 4) ? near.other : word;
}

function editDistance(first: string, second: string): number {
	if (Math.abs(first.length - second.length) > 3) return Infinity;
	let row = Array.from({ length: second.length + 1 }, (_, at) => at);
	for (let at = 1; at <= first.length; at++) {
		const next = [at];
		for (let to = 1; to <= second.length; to++) {
			next.push(Math.min((row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1, (row[to - 1] ?? 0) + (first[at - 1] === second[to - 1] ? 0 : 1)));
		}
		row = next;
	}
	return row[second.length] ?? Infinity;
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
