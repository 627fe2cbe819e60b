import type { ChangedText } from "../../api/generated";

/** A row of a rendered diff. Long runs of unchanged lines are folded. */
export type DiffRow = { kind: "line"; change: ChangedText["change"]; text: string } | { kind: "fold"; id: number; count: number };

/** Unchanged lines that stay visible next to a change. */
const BESIDE = 3;
/** Runs shorter than this are not folded. */
const FEWEST = 4;

/** The rows of a diff. Folds in `opened` are expanded. */
export function rows(parts: ChangedText[], opened: ReadonlySet<number>): DiffRow[] {
	return parts.flatMap((part, at) => {
		const lines = part.text.replace(/\n$/, "").split("\n");
		const drawn = (some: string[]): DiffRow[] => some.map((text) => ({ kind: "line", change: part.change, text }));
		const above = at === 0 ? 0 : BESIDE;
		const below = at === parts.length - 1 ? 0 : BESIDE;
		const count = lines.length - above - below;
		if (part.change !== "same" || count < FEWEST || opened.has(at)) return drawn(lines);
		return [...drawn(lines.slice(0, above)), { kind: "fold", id: at, count }, ...drawn(lines.slice(lines.length - below))];
	});
}

/** Counts the added and removed lines. */
export function counted(rows: DiffRow[]): { added: number; removed: number } {
	const count = (change: ChangedText["change"]) => rows.filter((row) => row.kind === "line" && row.change === change).length;
	return { added: count("added"), removed: count("removed") };
}
