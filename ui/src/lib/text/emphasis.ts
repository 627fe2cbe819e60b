import type { Part } from "./split";

/** Maximum number of paragraphs that one emphasis can span. */
const SPAN = 40;

/**
 * The source of each part. Stories use emphasis across paragraphs, but in Markdown it ends with the paragraph. It is therefore
 * closed and reopened in each paragraph. In a `live` text, an open emphasis is assumed to continue.
 */
export function sources(parts: Part[], live: boolean): string[] {
	const texts = parts.map((part) => part.text);
	for (let from = 0; from < parts.length; from++) {
		const mark = opened(parts[from]);
		const to = mark === "" ? -1 : closing(parts, from, mark, live);
		if (to <= from) continue;
		for (let at = from; at <= to; at++) texts[at] = spanned(texts[at] ?? "", mark, at > from, at < to);
		from = to;
	}
	return texts;
}

/** The mark that the paragraph opens and does not close; empty if there is none. */
function opened(part: Part | undefined): string {
	if (part?.kind !== "prose" || part.text.includes("`")) return "";
	const mark = /^\*{1,2}(?=[^\s*])/.exec(part.text)?.[0] ?? "";
	return mark !== "" && odd(part.text, mark) ? mark : "";
}

/** The index of the paragraph that closes the emphasis; -1 if there is none. */
function closing(parts: Part[], from: number, mark: string, live: boolean): number {
	const last = Math.min(parts.length - 1, from + SPAN);
	for (let at = from + 1; at <= last; at++) {
		const part = parts[at];
		if (part?.kind !== "prose" || part.text.includes("`")) return -1;
		if (!odd(part.text, mark)) continue;
		const text = part.text.trimEnd();
		const ends = text.endsWith(mark) && !/[\s*]/.test(text.charAt(text.length - mark.length - 1));
		return ends ? at : -1;
	}
	return live && last === parts.length - 1 ? last : -1;
}

function odd(text: string, mark: string): boolean {
	const runs = text.match(/\*+/g) ?? [];
	return runs.filter((run) => run.length === mark.length || run.length === 3).length % 2 === 1;
}

function spanned(text: string, mark: string, begins: boolean, ends: boolean): string {
	const words = text.trim();
	return `${begins ? mark : ""}${words}${ends ? mark : ""}`;
}

/** Closes an open emphasis, so that no bare asterisk flashes while the text streams. */
export function closed(tail: string): string {
	const text = tail.trimEnd();
	if (text.includes("`")) return tail;
	const strong = (text.match(/\*\*/g) ?? []).length % 2 === 1;
	const slight = (text.replaceAll("**", "").match(/\*/g) ?? []).length % 2 === 1;
	if (!strong && !slight) return tail;
	// A mark at the very end has nothing to emphasise yet.
	const begun = text.replace(/\s*\*+$/, "");
	if (begun !== text) return begun;
	return text + (slight ? "*" : "") + (strong ? "**" : "");
}
