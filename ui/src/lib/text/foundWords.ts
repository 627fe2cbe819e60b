import type { SearchWord } from "../api/generated";
import { fold } from "./fold";
import { SYMBOLS, UNSPACED } from "./foldTable";

/** A letter of a script with spaces. Two of them belong to one word. */
const SPACED = `(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}]`;
/** Words with the signs at their ends (`C++`, `C#`), and single symbols, as in the index of the engine. */
const RUNS = new RegExp(`[\\p{L}\\p{N}\\p{M}]+(?:\\+\\+|(?<![\\p{L}\\p{N}]{3})[+#](?![\\p{L}\\p{N}]))?|[${SYMBOLS}]`, "gu");
const ENDS_UNSPACED = new RegExp(`[${UNSPACED}${SYMBOLS}+#]$`, "u");
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}${SYMBOLS}]`, "u");
const BLOCKS = "p, li, h1, h2, h3, h4, h5, h6, td, th, blockquote, pre, summary, div";
/** Maximum number of highlighted places in a message. */
const MOST = 500;

/** Whether two words may stand next to each other without anything between them. */
const touch = (before: string | undefined, word: string): boolean => ENDS_UNSPACED.test(before ?? "") || STARTS_UNSPACED.test(word);

/** A pattern for the folded text of a message; `null` if the word has no letters. */
function pattern({ text, unfinished }: SearchWord): RegExp | null {
	const runs = fold(text).text.match(RUNS);
	if (!runs) return null;
	const last = runs.at(-1) ?? "";
	const before = STARTS_UNSPACED.test(runs[0] ?? "") ? "" : `(?<!${SPACED})`;
	const after = ENDS_UNSPACED.test(last) ? "" : unfinished ? `(?:${SPACED})*` : `(?!${SPACED})`;
	const between = `[^\\p{L}\\p{N}${SYMBOLS}]`;
	const words = runs.map((run) => run.replace(/[+]/g, "\\+"));
	return new RegExp(before + words.reduce((all, word, at) => all + (touch(runs[at - 1], word) ? `${between}*` : `${between}+`) + word) + after, "gu");
}

/** The patterns of all words of a search. */
export function patterns(words: readonly SearchWord[]): RegExp[] {
	return words.flatMap((word) => pattern(word) ?? []);
}

/** The places of the patterns in a text, in UTF-16 code units. */
export function places(text: string, wanted: readonly RegExp[]): [number, number][] {
	const { text: folded, from } = fold(text);
	const original = (at: number) => (from === null ? at : (from[at] ?? text.length));
	// A part of a letter, such as one s of ß, marks the whole letter.
	const end = (at: number) => {
		let next = at;
		while (from !== null && next < from.length && from[next] === from[at - 1]) next++;
		return original(next);
	};
	return wanted.flatMap((one) => [...folded.matchAll(one)].slice(0, MOST).map(({ index, 0: { length } }): [number, number] => [original(index), end(index + length)]));
}

/** The ranges of the patterns in the text of an element. A phrase may continue in emphasised text, but not in another paragraph. */
export function rangesIn(element: Element, wanted: readonly RegExp[]): Range[] {
	if (wanted.length === 0) return [];
	return blocks(element).flatMap((nodes) => rangesOf(nodes, wanted));
}

/** The text nodes of each block. */
function blocks(element: Element): Text[][] {
	const all: Text[][] = [];
	let last: Element | null = null;
	const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const node = walker.currentNode as Text;
		const block = node.parentElement?.closest(BLOCKS) ?? null;
		if (block !== last || all.length === 0) all.push([]);
		last = block;
		all.at(-1)?.push(node);
	}
	return all;
}

function rangesOf(nodes: Text[], wanted: readonly RegExp[]): Range[] {
	const text = nodes.map(({ data }) => data).join("");
	return places(text, wanted).map(([start, end]) => {
		const range = document.createRange();
		const [first, last] = [locate(nodes, start, false), locate(nodes, end, true)];
		range.setStart(...first);
		range.setEnd(...last);
		return range;
	});
}

/** The node and the offset of a position in the text of all nodes. An end belongs to the node before it. */
function locate(nodes: Text[], at: number, isEnd: boolean): [Text, number] {
	let rest = at;
	for (const node of nodes) {
		if (isEnd ? rest <= node.length : rest < node.length) return [node, rest];
		rest -= node.length;
	}
	const last = nodes.at(-1) as Text;
	return [last, last.length];
}
