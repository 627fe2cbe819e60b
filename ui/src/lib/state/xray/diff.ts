import type { ChangedText } from "../../api/generated";

/** Lines of a comparison as they are drawn; a long run of same lines is folded. */
export type DiffRow = { kind: "line"; change: ChangedText["change"]; text: string } | { kind: "fold"; id: number; count: number };

/** Same lines that stay in sight beside a change. */
const BESIDE = 3;
/** Folding fewer lines saves nothing. */
const FEWEST = 4;

/** The rows of a comparison, with the folds in `opened` shown line by line. */
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

/** How many lines were added and removed. */
export function counted(rows: DiffRow[]): { added: number; removed: number } {
	const count = (change: ChangedText["change"]) => rows.filter((row) => row.kind === "line" && row.change === change).length;
	return { added: count("added"), removed: count("removed") };
}
