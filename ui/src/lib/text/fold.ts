import { JOINED, LEFT_OUT, LETTERS, UNSPACED } from "./foldTable";

const ASCII = /^[\x00-\x7f]*$/;
/** A letter with the marks behind it. */
const CLUSTERS = new RegExp(`[^](?:[\\p{M}${JOINED}])*`, "gu");
const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");
const IS_LEFT_OUT = new RegExp(`[${LEFT_OUT}]`, "u");
const MARKS = /\p{M}/gu;

/** A folded text, and where each of its code units was. */
export interface Folded {
	text: string;
	/** `null` if nothing moved. */
	from: number[] | null;
}

function foldedCluster(cluster: string): string {
	if (ASCII.test(cluster)) return cluster.toLowerCase();
	let folded = "";
	for (const letter of cluster.normalize("NFKC")) {
		if (IS_LEFT_OUT.test(letter)) continue;
		if (IS_UNSPACED.test(letter)) folded += letter;
		else {
			const plain = letter.normalize("NFKD").replace(MARKS, "");
			// One letter at a time, because the lower case of a sigma depends on the letters around it.
			for (const part of plain) {
				for (const low of part.toLowerCase().replace(MARKS, "")) folded += LETTERS[low] ?? low;
			}
		}
	}
	return folded;
}

/** Folds a text as the index of the engine does: without case, accents and ligatures, and with one form for each letter. */
export function fold(text: string): Folded {
	if (ASCII.test(text)) return { text: text.toLowerCase(), from: null };
	const from: number[] = [];
	let folded = "";
	for (const { 0: cluster, index } of text.matchAll(CLUSTERS)) {
		const low = foldedCluster(cluster);
		for (let unit = 0; unit < low.length; unit++) from.push(index);
		folded += low;
	}
	from.push(text.length);
	return { text: folded, from };
}

/** The folded text alone. */
export function folded(text: string): string {
	if (ASCII.test(text)) return text.toLowerCase();
	return text.replace(CLUSTERS, foldedCluster);
}

/** A filter for texts that have every word of `query`, in any order. */
export function finder(query: string): (text: string) => boolean {
	const words = folded(query).split(/\s+/).filter(Boolean);
	return (text) => {
		if (words.length === 0) return true;
		const hay = folded(text);
		return words.every((word) => hay.includes(word));
	};
}
