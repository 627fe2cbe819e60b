import type { ChangedText } from "../api/generated";

/** Texts whose differing middles have more pairs of words than this are compared as a whole: the table would be too large. */
const MOST_PAIRS = 4_000_000;

/** The differences between two texts, word by word. */
export function wordDiff(before: string, after: string): ChangedText[] {
	const [old, now] = [words(before), words(after)];
	let [start, ends] = [0, 0];
	while (start < old.length && start < now.length && old[start] === now[start]) start++;
	while (ends < old.length - start && ends < now.length - start && old[old.length - 1 - ends] === now[now.length - 1 - ends]) ends++;
	const [oldMiddle, newMiddle] = [old.slice(start, old.length - ends), now.slice(start, now.length - ends)];
	return joined([
		...old.slice(0, start).map((text) => part("same", text)),
		...middle(oldMiddle, newMiddle),
		...old.slice(old.length - ends).map((text) => part("same", text)),
	]);
}

const part = (change: ChangedText["change"], text: string): ChangedText => ({ change, text });

/** Words with the space behind them. Letters of scripts without spaces are compared one by one. */
function words(text: string): string[] {
	return text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+\s*|\s+/gu) ?? [];
}

/** The longest common subsequence of words stays; the rest is removed and added. */
function middle(old: string[], now: string[]): ChangedText[] {
	if (old.length * now.length > MOST_PAIRS) return [...old.map((text) => part("removed", text)), ...now.map((text) => part("added", text))];
	const width = now.length + 1;
	const longest = new Uint32Array((old.length + 1) * width);
	const at = (row: number, column: number) => longest[row * width + column] ?? 0;
	for (let row = old.length - 1; row >= 0; row--)
		for (let column = now.length - 1; column >= 0; column--)
			longest[row * width + column] = old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
	const parts: ChangedText[] = [];
	let [row, column] = [0, 0];
	while (row < old.length || column < now.length) {
		if (row < old.length && column < now.length && old[row] === now[column]) {
			parts.push(part("same", old[row] ?? ""));
			[row, column] = [row + 1, column + 1];
		} else if (column >= now.length || (row < old.length && at(row + 1, column) >= at(row, column + 1))) parts.push(part("removed", old[row++] ?? ""));
		else parts.push(part("added", now[column++] ?? ""));
	}
	return parts;
}

/** Joins neighbours of one kind. */
function joined(parts: ChangedText[]): ChangedText[] {
	const all: ChangedText[] = [];
	for (const { change, text } of parts) {
		const last = all.at(-1);
		if (last?.change === change) last.text += text;
		else all.push({ change, text });
	}
	return all;
}
