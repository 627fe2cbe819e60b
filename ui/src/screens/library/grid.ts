import type { FolderRow, ItemRow } from "../../lib/state/folderRows";

const CARD = 192;
const SMALL_CARD = 140;
const GAP = 20;
const NARROW = 700;

/** Number of cards per row in `width` pixels; at least two, for phones. */
export function columnsIn(width: number): number {
	const card = width < NARROW ? SMALL_CARD : CARD;
	return Math.max(2, Math.floor((width + GAP) / (card + GAP)));
}

/** A line of the grid: the heading of a folder, or some cards of one level. */
export type GridLine<Item> = Extract<FolderRow<Item>, { kind: "folder" }> | { kind: "cards"; key: string; level: number; cards: ItemRow<Item>[] };

/** Puts the rows of a list into lines of at most `columns` cards. A heading ends a line, and so does another folder. */
export function linesOf<Item>(rows: readonly FolderRow<Item>[], columns: number): GridLine<Item>[] {
	const lines: GridLine<Item>[] = [];
	for (const row of rows) {
		if (row.kind === "folder") {
			lines.push(row);
			continue;
		}
		const last = lines.at(-1);
		const first = last?.kind === "cards" ? last.cards[0] : undefined;
		const joins = last?.kind === "cards" && last.cards.length < columns && last.level === row.level && first?.drop === row.drop;
		if (joins) last.cards.push(row);
		else lines.push({ kind: "cards", key: row.key, level: row.level, cards: [row] });
	}
	return lines;
}
