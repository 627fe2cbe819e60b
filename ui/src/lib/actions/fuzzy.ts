import { folded } from "../text/fold";
import { JOINED } from "../text/foldTable";

/** A text prepared for matching: its folded characters, where each came from and whether a word starts there. */
export interface Haystack {
	chars: string[];
	/** Index of the code point in the original text. */
	from: number[];
	starts: boolean[];
	text: string;
}

export interface Match {
	score: number;
	/** Indexes of the matched code points. */
	at: number[];
}

const LETTER = /[\p{L}\p{N}]/u;
/** A letter with the marks behind it, so that marks fold together with their letter. */
const CLUSTERS = new RegExp(`[^](?:[\\p{M}${JOINED}])*`, "gu");

export function haystack(text: string): Haystack {
	const [chars, from, starts]: [string[], number[], boolean[]] = [[], [], []];
	let before = "";
	let index = 0;
	for (const [cluster] of text.matchAll(CLUSTERS)) {
		const [point = ""] = cluster;
		const start = LETTER.test(point) && (!LETTER.test(before) || (/\p{Lu}/u.test(point) && /\p{Ll}/u.test(before)));
		for (const [at, char] of [...folded(cluster)].entries()) {
			chars.push(char);
			from.push(index);
			starts.push(start && at === 0);
		}
		before = point;
		index += [...cluster].length;
	}
	return { chars, from, starts, text: chars.join("") };
}

/** Matches every word of a query: at the start of a word first, then inside a word, then letters in order. `null` if a word is missing. */
export function fuzzy(query: string, hay: Haystack): Match | null {
	const words = folded(query).split(/\s+/).filter(Boolean);
	const at = new Set<number>();
	let score = 0;
	for (const word of words) {
		const found = oneWord([...word], hay);
		if (!found) return null;
		score += found.score;
		for (const index of found.at) at.add(hay.from[index] ?? 0);
	}
	// Among equal matches, the shorter text is the closer one.
	return { score: score - Math.min(hay.chars.length, 100) / 1000, at: [...at].sort((one, two) => one - two) };
}

function oneWord(word: string[], hay: Haystack): Match | null {
	const run = (start: number) => word.map((_, index) => start + index);
	let inside = -1;
	for (let start = hay.chars.indexOf(word[0] ?? ""); start >= 0; start = hay.chars.indexOf(word[0] ?? "", start + 1)) {
		if (!word.every((char, index) => hay.chars[start + index] === char)) continue;
		if (hay.starts[start]) return { score: start === 0 ? 5 : 4, at: run(start) };
		if (inside < 0) inside = start;
	}
	if (inside >= 0) return { score: 3, at: run(inside) };
	if (word.length < 2) return null;
	return initials(word, hay) ?? inOrder(word, hay);
}

/** Every letter starts a word or continues the run before it: "tnf" finds "The night ferry". */
function initials(word: string[], hay: Haystack): Match | null {
	const at: number[] = [];
	for (const char of word) {
		const next = (at.at(-1) ?? -1) + 1;
		const found = at.length > 0 && hay.chars[next] === char ? next : hay.chars.findIndex((other, index) => index >= next && other === char && hay.starts[index] === true);
		if (found < 0) return null;
		at.push(found);
	}
	return { score: 2, at };
}

/** The letters in order, from the start of a word, with few letters between them. */
function inOrder(word: string[], hay: Haystack): Match | null {
	for (const [start, isStart] of hay.starts.entries()) {
		if (!isStart || hay.chars[start] !== word[0]) continue;
		const at = [start];
		for (const char of word.slice(1)) {
			const found = hay.chars.indexOf(char, (at.at(-1) ?? 0) + 1);
			if (found < 0) break;
			at.push(found);
		}
		const span = (at.at(-1) ?? 0) - start + 1;
		if (at.length === word.length && span <= word.length * 3) return { score: 1, at };
	}
	return null;
}

/** Splits a text into parts that matched and parts that did not. */
export function parts(text: string, at: readonly number[]): { text: string; isMatch: boolean }[] {
	const hit = new Set(at);
	const all: { text: string; isMatch: boolean }[] = [];
	for (const [index, point] of [...text].entries()) {
		const last = all.at(-1);
		if (last && last.isMatch === hit.has(index)) last.text += point;
		else all.push({ text: point, isMatch: hit.has(index) });
	}
	return all;
}
